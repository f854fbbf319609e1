# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Mathematical expressions: a small parser, and equality by values at fixed points.

Not sympy or math-verify: both hand the text to an evaluator, take milliseconds to seconds, and
must be guarded by a time limit; here length, depth and exponents are limited, nothing is executed,
and two expressions are equal when their values agree at several points.
"""

from __future__ import annotations

import cmath
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

_LONGEST, _DEEPEST = 200, 40
_SUPERSCRIPT = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|ⁿ|ˣ")
_SUPERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿˣ", "0123456789-+nx")
_SUBSTITUTES = (
    ("**", "^"), ("×", "*"), ("·", "*"), ("⋅", "*"), ("÷", "/"), ("−", "-"), ("–", "-"), ("π", " pi "), ("θ", " t "), ("\\pi", " pi "),
    ("\\cdot", "*"), ("\\times", "*"), ("\\left", ""), ("\\right", ""), ("\\,", " "), ("\\pm", "±"), ("$", ""), ("\\(", ""), ("\\)", ""), ("`", " "),
)  # fmt: skip
_FRAC = re.compile(r"\\d?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sqrt": cmath.sqrt, "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "ln": cmath.log, "log": cmath.log10, "exp": cmath.exp,
    "abs": abs, "arcsin": cmath.asin, "arccos": cmath.acos, "arctan": cmath.atan, "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh,
    "sec": lambda value: 1 / cmath.cos(value), "csc": lambda value: 1 / cmath.sin(value), "cot": lambda value: 1 / cmath.tan(value),
}  # fmt: skip
_TOKEN = re.compile(
    r"\s*(?:(\d+(?:\.\d+)?|\.\d+)|("
    + "|".join(sorted(_FUNCTIONS, key=len, reverse=True))
    + r"|pi)(?![a-z])|([A-Za-z])(?!\d)|(√)|([-+*/^()\[\]{}|]))"
)
_REAL = 1e-9
_POINTS = (0.7316, 1.9142, 2.6577, 0.3719, 1.2931)

Node = tuple[object, ...]
Relation = Literal["equal", "missing", "different", "unknown"]


class _ParseError(ValueError):
    pass


def _prepare(text: str) -> str:
    text = _SUPERSCRIPT.sub(lambda hit: f"^({hit[0].translate(_SUPERS)})", text)
    for _ in range(4):
        text = _FRAC.sub(r"((\1)/(\2))", text)
        text = _ROOT.sub(r"sqrt(\1)", text)
    for old, new in _SUBSTITUTES:
        text = text.replace(old, new)
    return text.strip().rstrip(".;")


class _Parser:
    """Recursive descent over at most `_LONGEST` characters."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        self.place = self.depth = 0
        at = 0
        text = text.rstrip()
        while at < len(text):
            hit = _TOKEN.match(text, at)
            if not hit or hit.end() == at:
                raise _ParseError
            kind = (
                ("number", "name", "letter", "root", "sign")[hit.lastindex - 1]
                if hit.lastindex
                else ""
            )
            self.tokens.append((kind, hit[hit.lastindex or 0]))
            at = hit.end()

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.place] if self.place < len(self.tokens) else ("", "")

    def next(self) -> tuple[str, str]:
        token = self.peek()
        self.place += 1
        return token

    def whole(self) -> Node:
        node = self.sum()
        if self.place != len(self.tokens):
            raise _ParseError
        return node

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _ParseError
        node = self.product()
        while self.peek()[1] in ("+", "-"):
            sign = self.next()[1]
            node = (sign, node, self.product())
        self.depth -= 1
        return node

    def product(self) -> Node:
        node = self.signed()
        while True:
            kind, sign = self.peek()
            if sign in ("*", "/"):
                self.next()
                node = (sign, node, self.signed())
            elif kind in ("number", "name", "letter", "root") or sign in ("(", "[", "{"):
                node = ("*", node, self.power())
            else:
                return node

    def signed(self) -> Node:
        if self.peek()[1] in ("-", "+"):
            self.depth += 1
            if self.depth > _DEEPEST:
                raise _ParseError
            sign = self.next()[1]
            node = self.signed()
            self.depth -= 1
            return ("-", ("number", 0.0), node) if sign == "-" else node
        return self.power()

    def power(self) -> Node:
        node = self.atom()
        if self.peek()[1] == "^":
            self.next()
            node = ("^", node, self.signed())
        return node

    def atom(self) -> Node:
        kind, word = self.next()
        if kind == "number":
            return ("number", float(word))
        if kind == "letter":
            return ("letter", word)
        if kind == "name":
            if word == "pi":
                return ("number", cmath.pi)
            if self.peek()[1] == "^":  # sin^2(x)
                self.next()
                exponent = self.atom()
                return ("^", ("call", word, self.argument()), exponent)
            return ("call", word, self.argument())
        if kind == "root":
            return ("call", "sqrt", self.argument())
        if word in ("(", "[", "{"):
            node = self.sum()
            if self.next()[1] != {"(": ")", "[": "]", "{": "}"}[word]:
                raise _ParseError
            return node
        if word == "|":
            node = self.sum()
            if self.next()[1] != "|":
                raise _ParseError
            return ("call", "abs", node)
        raise _ParseError

    def argument(self) -> Node:
        return self.atom() if self.peek()[1] in ("(", "[", "{") else self.power()


def _child(node: Node, place: int) -> Node:
    child = node[place]
    assert isinstance(child, tuple)
    return child


def _value(node: Node, where: dict[str, float]) -> complex:
    kind = node[0]
    if kind == "number":
        return complex(float(str(node[1])))
    if kind == "letter":
        name = str(node[1])
        return cmath.e if name == "e" and "e" not in where else complex(where[name])
    if kind == "call":
        return complex(_FUNCTIONS[str(node[1])](_value(_child(node, 2), where)))
    left, right = _value(_child(node, 1), where), _value(_child(node, 2), where)
    if kind == "+":
        return left + right
    if kind == "-":
        return left - right
    if kind == "*":
        return left * right
    if kind == "/":
        return left / right
    if abs(right) > 400:
        raise OverflowError
    return complex(left**right)


@lru_cache(maxsize=2048)
def _parsed(text: str) -> tuple[Node, frozenset[str]] | None:
    text = _prepare(text)
    if not text or len(text) > 2 * _LONGEST:
        return None
    try:
        parser = _Parser(text)
        node = parser.whole()
    except (_ParseError, RecursionError):
        return None
    return node, frozenset(word for kind, word in parser.tokens if kind == "letter")


def _samples(node: Node, letters: frozenset[str]) -> list[complex | None]:
    values: list[complex | None] = []
    names = sorted(letters - {"e"})
    for turn, point in enumerate(_POINTS):
        where = {name: point * (1 + 0.37 * place) + 0.11 * turn for place, name in enumerate(names)}
        try:
            values.append(_value(node, where))
        except (ArithmeticError, ValueError, OverflowError):
            values.append(None)
    return values


def _near(left: complex, right: complex) -> bool:
    return abs(left - right) <= 1e-7 * max(1.0, abs(left), abs(right))


def expression_value(text: str) -> float | None:
    """The real value of an expression without letters, else None.

    >>> round(expression_value("\\\\sqrt{2}"), 4), expression_value("x + 1")
    (1.4142, None)
    """
    parsed = _parsed(text)
    if parsed is None or parsed[1] - {"e"}:
        return None
    found = _samples(*parsed)[0]
    return found.real if found is not None and abs(found.imag) < _REAL else None


def equal_expressions(left: str, right: str) -> bool | None:
    """Whether two expressions have the same values; None where one cannot be read.

    >>> equal_expressions("3x^2", "x^2/3"), equal_expressions("(a-b)^2", "a² − 2ab + b²")
    (False, True)
    """
    first, second = _parsed(left), _parsed(right)
    if first is None or second is None:
        return None
    letters = first[1] | second[1]
    pairs = [
        (one, two)
        for one, two in zip(_samples(first[0], letters), _samples(second[0], letters), strict=True)
        if one is not None and two is not None
    ]
    if len(pairs) < 3:
        return None
    return all(_near(one, two) for one, two in pairs)


_ALTERNATIVES = re.compile(r"\s*(?:\bor\b|\band\b|;|,(?=\s)|\boder\b|\bund\b|\bou\b)\s*")
_NAMES = re.compile(r"[A-Za-z]+")


@lru_cache(maxsize=2048)
def alternatives(text: str) -> tuple[str, ...]:
    """The equations that a text offers one after another; a ± makes two.

    >>> alternatives("x = ±3"), alternatives("x = 3 or x = -3")
    (('x = +3', 'x = -3'), ('x = 3', 'x = -3'))
    """
    parts = [part.strip() for part in _ALTERNATIVES.split(text.strip().strip(".")) if part.strip()]
    spread: list[str] = []
    for part in parts:
        if "±" in part:
            spread.extend((part.replace("±", "+"), part.replace("±", "-")))
        else:
            spread.append(part)
    if spread and "=" in spread[0]:  # x = 3 or -3
        name = spread[0].partition("=")[0].strip()
        if len(name) == 1:
            spread = [part if "=" in part else f"{name} = {part}" for part in spread]
    return tuple(spread)


def _same_equation(left: str, right: str) -> bool | None:
    sides, others = left.split("="), right.split("=")
    if len(sides) == 1 and len(others) == 1:
        return equal_expressions(left, right)
    if len(sides) > 2 or len(others) > 2:
        return None
    if len(sides) == 2 and len(others) == 2:
        if sides[0].strip() == others[0].strip():
            return equal_expressions(sides[1], others[1])
        same = _proportional(f"({sides[0]})-({sides[1]})", f"({others[0]})-({others[1]})")
        return None if same is False and _solved(sides) != _solved(others) else same
    (named, plain) = (sides, others) if len(sides) == 2 else (others, sides)
    if len(named[0].strip().split("(")[0]) <= 2:
        return equal_expressions(named[1], plain[0])
    return None


def _solved(sides: list[str]) -> str:
    """The letter for which an equation is solved, '' where for none."""
    name = sides[0].strip()
    return name if len(name) == 1 and name not in sides[1] else ""


def _proportional(left: str, right: str) -> bool | None:
    first, second = _parsed(left), _parsed(right)
    if first is None or second is None:
        return None
    letters = first[1] | second[1]
    ratios = [
        one / two
        for one, two in zip(_samples(first[0], letters), _samples(second[0], letters), strict=True)
        if one is not None and two is not None and abs(two) > 1e-9
    ]
    if len(ratios) < 3:
        return None
    return abs(ratios[0]) > 1e-9 and all(_near(ratio, ratios[0]) for ratio in ratios)


def relate(reference: str, answer: str) -> Relation:
    """How the answer's equations or expression relates to the reference's.

    >>> relate("x = 3 or x = -3", "x = 3"), relate("3x^2", "x^2/3")
    ('missing', 'different')
    """
    wanted, given = alternatives(reference), alternatives(answer)
    if not wanted or not given or len(wanted) > 6 or len(given) > 6:
        return "unknown"
    unknown = False
    met = set()
    used = set()
    for place, one in enumerate(wanted):
        for other, two in enumerate(given):
            same = _same_equation(one, two)
            if same:
                met.add(place)
                used.add(other)
            unknown = unknown or same is None
    if len(met) == len(wanted) and len(used) == len(given):
        return "equal"
    if unknown:
        return "unknown"
    if met and len(used) == len(given):
        return "missing"
    return "different"


_WORDS = re.compile(r"[A-Za-zÀ-ÿ]{2,}")
_ALLOWED = frozenset(
    (*_FUNCTIONS, "pi", "or", "and", "frac", "dfrac", "cdot", "times", "left", "right", "pm")
)
_OPERATOR = re.compile(
    r"\\d?frac|\\sqrt|[=^²³⁴⁵⁶⁷⁸⁹√+*/·×±π]|\d\s?[a-zA-Z]\b|(?<=[\w)])\s*[-−]\s*(?=[\w(])"
)
_LETTER = re.compile(
    r"(?<![A-Za-z])[a-zA-Z](?![A-Za-z])|frac|sqrt|√|π|\bpi\b|\d[a-zA-Z]\b|\b[a-z]{2,3}\b"
)
_CHEMICAL = re.compile(r"[A-Z]\d|[→⇌]|\d\s*[°%]|\bCO\b")
_RUN = re.compile(
    r"(?:[\s\d.+\-−–*/^=()\[\]{}|√π²³¹⁰⁴⁵⁶⁷⁸⁹⁻·×±,]|\b(?:sqrt|sin|cos|tan|log|ln|exp|pi|or|and)\b|(?<![A-Za-z'])(?!is|of|to|in|it|as|so|we|by|be|at|on|an|no|if|do|he|me|my|up|us|am)[a-zA-Z]{1,2}(?![a-zA-Z']))+"
)


def is_expression(text: str) -> bool:
    """Whether a whole text is an expression or equation with a letter, a root or pi in it."""
    text = text.strip().strip(".`$")
    if (
        not 2 <= len(text) <= _LONGEST
        or not _OPERATOR.search(text)
        or not _LETTER.search(text)
        or _CHEMICAL.search(text)
    ):
        return False
    for hit in _WORDS.finditer(text):
        word = hit[0].lower()
        if word not in _ALLOWED and not (
            len(word) <= 3
            and hit[0].isascii()
            and hit[0].islower()
            and ("=" in text or "^" in text or "²" in text or "+" in text)
        ):
            return False
    if not re.search(r"\d|=|\^|[²³√π+]", text) or re.fullmatch(r"\d+(?:[.,]\d+)*\s?[A-Za-z]", text):
        return False
    return all(
        any(_parsed(side) is not None for side in part.split("="))
        and all(_parsed(side) is not None for side in part.split("=") if side.strip())
        for part in alternatives(text)
    ) and bool(alternatives(text))


def expressions_in(text: str) -> list[tuple[int, int]]:
    """Spans of a text that read as expressions, without the words around them."""
    if is_expression(text):
        return [(0, len(text))]
    found: list[tuple[int, int]] = []
    for hit in _RUN.finditer(text[:4000]):
        raw = hit[0]
        start = hit.start() + len(raw) - len(raw.lstrip(" ,.\n-–"))
        if raw.lstrip(" ,.\n").startswith(("-", "–", "−")):
            start = hit.start() + len(raw) - len(raw.lstrip(" ,.\n"))
        end = hit.end() - (len(raw) - len(raw.rstrip(" ,.\n(")))
        piece = text[start:end]
        piece = re.sub(r"^(?:or|and|a|I|is)\s+(?![-+*/=^])|\s+(?:or|and|a|I)$", "", piece)
        if 2 <= len(piece) <= _LONGEST and is_expression(piece):
            at = text.find(piece, start)
            found.append((at, at + len(piece)))
    return found
