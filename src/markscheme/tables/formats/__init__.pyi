from .foreign import ForeignFormat as ForeignFormat
from .foreign import Record as Record
from .foreign import format_of_document as format_of_document
from .foreign import format_of_record as format_of_record
from .inspect_log import inspect_archive as inspect_archive
from .workbook import workbook_rows as workbook_rows
