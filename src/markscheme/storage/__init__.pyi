from .database import Cursor as Cursor
from .database import Database as Database
from .database import Row as Row
from .database import connect as connect
from .database import is_postgres as is_postgres
