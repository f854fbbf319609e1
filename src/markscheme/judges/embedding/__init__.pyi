from .similarity import BertScore as BertScore
