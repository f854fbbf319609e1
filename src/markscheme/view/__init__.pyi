from .app import make_app as make_app
from .runs import Run as Run
from .runs import RunLabels as RunLabels
from .runs import runs_of as runs_of
from .serving import view as view
