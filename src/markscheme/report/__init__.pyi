from .figures import write_figures as write_figures
from .html import write_report as write_report
from .material import material_in_memory as material_in_memory
from .material import read_material as read_material
from .options import ReportOptions as ReportOptions
from .reporting import ReportResult as ReportResult
from .reporting import report as report
from .tables import write_tables as write_tables
