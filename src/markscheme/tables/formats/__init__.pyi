from .foreign import ForeignFormat as ForeignFormat
from .foreign import Record as Record
from .inspect_log import inspect_archive as inspect_archive
from .predictions import predictions_of as predictions_of
from .registry import foreign_formats as foreign_formats
from .registry import format_of_document as format_of_document
from .registry import format_of_record as format_of_record
from .workbook import workbook_rows as workbook_rows
