from .listwise_examiner import ListwiseExaminer as ListwiseExaminer
from .question_kind import asks_opinion as asks_opinion
from .question_kind import factoid_chance as factoid_chance
from .question_kind import features as features
from .requests import Order as Order
from .requests import items as items
