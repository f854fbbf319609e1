from .regex import Regex as Regex
