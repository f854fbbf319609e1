from .answer_html import answer_script as answer_script
from .answer_html import answer_style as answer_style
from .answer_html import has_markup as has_markup
from .answer_html import plain_answer as plain_answer
from .answer_html import render_answer as render_answer
from .ports import is_loopback as is_loopback
from .ports import take_port as take_port
