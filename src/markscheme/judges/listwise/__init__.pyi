from .listwise_examiner import ListwiseExaminer as ListwiseExaminer
from .question_kind import CATEGORIES as CATEGORIES
from .question_kind import asks_opinion as asks_opinion
from .question_kind import category as category
from .question_kind import classify as classify
from .question_kind import features as features
from .requests import Order as Order
from .requests import items as items
