"""Mathematical expressions: a small parser, and equality by values at fixed points.

Not sympy or math-verify: both hand the text to an evaluator, take milliseconds to seconds, and
must be guarded by a time limit; here length, depth and exponents are limited, nothing is executed,
and two expressions are equal when their values agree at several points. Of the 80 pairs of
`tests/values/test_formulae.py`, which were written for this module, math-verify 0.9.0 calls 64
rightly: it rejects 16 equal ones and accepts no wrong one, so that it is no extra.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from markscheme.text import Tolerance, without_latex
from markscheme.values.characters import SUPERSCRIPTS

_LONGEST, _DEEPEST = 200, 40
_SUPERSCRIPT = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|ⁿ|ˣ")
_WRITTEN = str.maketrans("×·⋅÷−–`", "***/-- ") | {ord("π"): " pi ", ord("∞"): " infinity "}
_DEGREES = re.compile(r"(?<=\d)\s*degrees?\b(?!\s*[CFK])", re.IGNORECASE)
_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sqrt": cmath.sqrt,
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "ln": cmath.log,
    "log": cmath.log10,
    "exp": cmath.exp,
    "abs": abs,
    "arcsin": cmath.asin,
    "arccos": cmath.acos,
    "arctan": cmath.atan,
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "tanh": cmath.tanh,
    "sec": lambda value: 1 / cmath.cos(value),
    "csc": lambda value: 1 / cmath.sin(value),
    "cot": lambda value: 1 / cmath.tan(value),
}
_CONSTANTS = {"pi": cmath.pi, "infinity": cmath.inf}
_KNOWN_LETTERS = frozenset({"e", "i"})
"""Euler's number and the imaginary unit."""
_TOKEN = re.compile(
    r"\s*(?:(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)|("
    + "|".join(sorted([*_FUNCTIONS, *_CONSTANTS], key=len, reverse=True))
    + r")(?![a-z])|([A-Za-zα-ωΑ-Ω](?:_[A-Za-z0-9])?)(?!\d)|(√)|([-+*/^()\[\]{}|!°%_,]))"
)
_POINTS = (0.7316, 1.9142, 2.6577, 0.3719, 1.2931)

Node = tuple[object, ...]
Relation = Literal["equal", "missing", "different", "unknown"]


class _ParseError(ValueError):
    pass


def _prepare(text: str) -> str:
    text = without_latex(text).replace("**", "^").translate(_WRITTEN)
    text = _SUPERSCRIPT.sub(lambda hit: f"^({hit[0].translate(SUPERSCRIPTS)})", text)
    return _DEGREES.sub("°", text).strip().rstrip(".;")


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
            elif kind == "number":  # 2 1/2
                node = ("+", node, self.part(node))
            elif kind in ("name", "letter", "root") or sign in ("(", "[", "{"):
                node = ("*", node, self.power())
            else:
                return node

    def part(self, whole: Node) -> Node:
        """The fraction of a mixed number."""
        (_, top), (_, over), (kind, bottom) = self.next(), self.next(), self.next()
        if not (whole[0] == "number" and over == "/" and kind == "number"):
            raise _ParseError
        above, below = _figure(top), _figure(bottom)
        if not 0 < above < below:
            raise _ParseError
        return ("number", above / below)

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
        while (sign := self.peek()[1]) in _AFTER:
            self.next()
            node = ("call", sign, node)
        if sign == "^":
            self.next()
            node = ("^", node, self.signed())
        return node

    def atom(self) -> Node:
        kind, word = self.next()
        if kind == "number":
            return ("number", _figure(word))
        if kind == "letter":
            return self.choose() if word == "C" and self.chosen() else ("letter", word)
        if kind == "name":
            if word in _CONSTANTS:
                return ("number", _CONSTANTS[word])
            if self.peek()[1] == "_":  # log_2 8
                self.next()
                base = self.atom()
                if word != "log":
                    raise _ParseError
                return ("/", ("call", "ln", self.argument()), ("call", "ln", base))
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

    def chosen(self) -> bool:
        """Whether a C is followed by two arguments: C(5, 2)."""
        ahead = [sign for _, sign in self.tokens[self.place : self.place + _LONGEST]]
        if ahead[:1] != ["("]:
            return False
        inside = ahead[: ahead.index(")")] if ")" in ahead else []
        return inside.count(",") == 1

    def choose(self) -> Node:
        self.next()
        top = self.sum()
        if self.next()[1] != ",":
            raise _ParseError
        bottom = self.sum()
        if self.next()[1] != ")":
            raise _ParseError
        rest: Node = ("call", "!", ("-", top, bottom))
        return ("/", ("call", "!", top), ("*", ("call", "!", bottom), rest))

    def argument(self) -> Node:
        return self.atom() if self.peek()[1] in ("(", "[", "{") else self.power()


def _figure(word: str) -> float:
    return float(word.replace(",", ""))


def _child(node: Node, place: int) -> Node:
    child = node[place]
    assert isinstance(child, tuple)
    return child


_Function = Callable[[complex], complex]


def _factorial(value: complex) -> complex:
    if abs(value.imag) > Tolerance.EQUAL or not 0 <= value.real <= _LARGEST_FACTORIAL:
        raise ValueError(value)
    return complex(math.gamma(value.real + 1))


_LARGEST_FACTORIAL = 170
_AFTER: dict[str, _Function] = {
    "!": _factorial,
    "°": lambda value: value * cmath.pi / 180,
    "%": lambda value: value / 100,
}


def _value(node: Node, where: dict[str, float], log: _Function) -> complex:
    kind = node[0]
    if kind == "number":
        return complex(float(str(node[1])))
    if kind == "letter":
        name = str(node[1])
        return {"e": cmath.e, "i": 1j}[name] if name in _KNOWN_LETTERS else complex(where[name])
    if kind == "call":
        name = str(node[1])
        function = log if name == "log" else _AFTER.get(name) or _FUNCTIONS[name]
        return complex(function(_value(_child(node, 2), where, log)))
    left, right = (_value(_child(node, side), where, log) for side in (1, 2))
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


_Parsed = tuple[Node, frozenset[str]]
_CONSTANT = re.compile(r"\+\s*[ck]\s*$")
"""Of an integral, which is as often written as a capital letter."""


@lru_cache(maxsize=2048)
def _parsed(text: str) -> _Parsed | None:
    text = _CONSTANT.sub("+ C", _prepare(text))
    if not text or len(text) > 2 * _LONGEST:
        return None
    try:
        parser = _Parser(text)
        node = parser.whole()
    except (_ParseError, RecursionError):
        return None
    return node, frozenset(word for kind, word in parser.tokens if kind == "letter")


def _samples(
    node: Node, letters: frozenset[str], log: _Function = cmath.log10
) -> list[complex | None]:
    values: list[complex | None] = []
    names = sorted(letters - _KNOWN_LETTERS)
    for turn, point in enumerate(_POINTS):
        where = {name: point * (1 + 0.37 * place) + 0.11 * turn for place, name in enumerate(names)}
        try:
            values.append(_value(node, where, log))
        except (ArithmeticError, ValueError, OverflowError):
            values.append(None)
    return values


def _near(left: complex, right: complex) -> bool:
    apart = abs(left - right)
    return left == right or (
        math.isfinite(apart) and apart <= Tolerance.COMPUTED * max(1.0, abs(left), abs(right))
    )


def letters_of(text: str) -> frozenset[str] | None:
    """The variables of an expression; None of a text that is none."""
    parsed = _parsed(text) if text else None
    return None if parsed is None else parsed[1] - _KNOWN_LETTERS


def equal_expressions(left: str, right: str) -> bool | None:
    """Whether two expressions have the same values; None where one cannot be read.

    "log" is the natural or the decadic logarithm, whichever makes them equal. A decimal of three
    figures and more equals an exact value that it is rounded from.

    >>> equal_expressions("3x^2", "x^2/3"), equal_expressions("(a-b)^2", "a² − 2ab + b²")
    (False, True)
    """
    first, second = _parsed(left), _parsed(right)
    if first is None or second is None:
        return None
    letters = first[1] | second[1]
    logs = (cmath.log10, cmath.log) if "log" in left + right else (cmath.log10,)
    found = [_agree(first, second, letters, log) for log in logs]
    if True not in found and not letters - _KNOWN_LETTERS:
        found += [_rounded(first, second, left, right)]
    return True if True in found else None if None in found else False


_DECIMAL = re.compile(r"[-+−]?\s*\d*\.(\d+)")


def _rounded(first: _Parsed, second: _Parsed, left: str, right: str) -> bool | None:
    """Whether one is a decimal to which the other rounds; None where it has too few figures."""
    decimals = [_DECIMAL.fullmatch(text.strip().rstrip(".")) for text in (left, right)]
    if (decimals[0] is None) is (decimals[1] is None):
        return False
    one, two = _samples(*first)[0], _samples(*second)[0]
    if one is None or two is None:
        return None
    hit = decimals[0] or decimals[1]
    assert hit is not None
    exact, decimal = (two, one) if decimals[0] else (one, two)
    real = abs(exact.imag) < Tolerance.EQUAL
    return real and rounds_to(exact.real, decimal.real, 10.0 ** -len(hit[1]))


def rounds_to(value: float, decimal: float, quantum: float) -> bool | None:
    """Whether a value is a decimal, or rounds to it; None where that has too few figures.

    >>> rounds_to(0.6321, 0.632, 0.001), rounds_to(0.6321, 0.6, 0.1), rounds_to(0.6321, 1.0, 1.0)
    (True, None, False)
    """
    if _near(value, decimal):
        return True
    if quantum >= 1 or abs(value - decimal) > Tolerance.HALF_STEP * quantum:
        return False
    return True if abs(decimal) >= _FIGURES * quantum else None


_FIGURES = 100
"""Times the last place of a decimal that is taken for a rounded exact value: three figures."""


def _agree(first: _Parsed, second: _Parsed, letters: frozenset[str], log: _Function) -> bool | None:
    both = (_samples(one[0], letters, log) for one in (first, second))
    pairs = [
        (one, two) for one, two in zip(*both, strict=True) if one is not None and two is not None
    ]
    if len(pairs) < 3:
        return None
    return all(_near(one, two) for one, two in pairs)


_ALTERNATIVES = re.compile(r"\s*(?:\bor\b|\band\b|;|,(?=\s)|\boder\b|\bund\b|\bou\b)\s*")
_CHOICE = re.compile(r"\bC\(([^(),]*),\s+")
_SET = re.compile(r"(?:([a-z])\s*(?:∈|=|in\b)\s*)?\{([^{}|:]+)\}")


@lru_cache(maxsize=2048)
def alternatives(text: str) -> tuple[str, ...]:
    """The equations that a text offers one after another; a ± makes two.

    >>> alternatives("x = ±3"), alternatives("x = 3 or x = -3")
    (('x = +3', 'x = -3'), ('x = 3', 'x = -3'))
    """
    text = text.strip().strip(".")
    if hit := _SET.fullmatch(text):
        text = f"{hit[1]}=" * bool(hit[1]) + hit[2].replace(",", "; ")
    text = _CHOICE.sub(r"C(\1,", text)
    parts = [part.strip() for part in _ALTERNATIVES.split(text) if part.strip()]
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


_FUNCTION = re.compile(r"\s*[a-zA-Z]'?\s*\([a-z]\)\s*")


def _same_equation(left: str, right: str) -> bool | None:
    sides, others = _sides(left), _sides(right)
    if len(sides) == 1 and len(others) == 1:
        return equal_expressions(left, right)
    if len(sides) > 2 or len(others) > 2:
        return None
    if len(sides) == 2 and len(others) == 2:
        if sides[0].strip() == others[0].strip():
            return equal_expressions(sides[1], others[1])
        if bool(_FUNCTION.fullmatch(sides[0])) != bool(_FUNCTION.fullmatch(others[0])):
            return equal_expressions(sides[1], others[1]) or None  # y and f(x)
        same = _proportional(f"({sides[0]})-({sides[1]})", f"({others[0]})-({others[1]})")
        return None if same is False and _solved(sides) != _solved(others) else same
    (named, plain) = (sides, others) if len(sides) == 2 else (others, sides)
    if len(named[0].strip().split("(")[0]) <= 2:
        return equal_expressions(named[1], plain[0])
    return None


def _sides(text: str) -> list[str]:
    """The sides of an equation; of "x = 6/4 = 3/2" the first and the last, of "6/4 = 3/2" that."""
    sides = text.split("=")
    begin = len(sides) > 2 and len(sides[0].split("(")[0].strip()) <= 2
    chain = sides[begin:]
    parsed = [_parsed(side) for side in chain]
    if len(chain) < 2 or any(one is None or one[1] - _KNOWN_LETTERS for one in parsed):
        return sides
    if not all(equal_expressions(side, chain[-1]) for side in chain[:-1]):
        return sides
    return [*sides[:begin], chain[-1]]


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
        if one is not None and two is not None and abs(two) > Tolerance.EQUAL
    ]
    if len(ratios) < 3:
        return None
    return abs(ratios[0]) > Tolerance.EQUAL and all(_near(ratio, ratios[0]) for ratio in ratios)


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
_ALLOWED = frozenset((*_FUNCTIONS, *_CONSTANTS, "or", "and"))
_OPERATOR = re.compile(
    r"\bsqrt|\b(?:log|ln)(?![A-Za-z])|\d!|\bC\(\d|[=^²³⁴⁵⁶⁷⁸⁹√+*/·×±π]|\d\s?[a-zA-Z]\b|(?<=[\w)])\s*[-−]\s*(?=[\w(])"
)
_LETTER = re.compile(
    r"(?<![A-Za-z])[a-zA-Z](?![A-Za-z])|sqrt|√|π|\d!|\blog_|\d\^\(|\)\^|\bpi\b|\d[a-zA-Z]\b|\b[a-z]{2,3}\b"
)
_CHEMICAL = re.compile(r"[A-Z]\d|[→⇌]|\d\s*[°%]|\bCO\b")


def is_expression(text: str) -> bool:
    """Whether a whole text is an expression or equation with a letter, a root or pi in it."""
    text = without_latex(text).strip().strip(".`")
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
    if not re.search(r"\d|=|\^|[²³√π+]|\bln\b", text) or re.fullmatch(
        r"\d+(?:[.,]\d+)*\s?[A-Za-z]", text
    ):
        return False
    return all(
        any(_parsed(side) is not None for side in part.split("="))
        and all(_parsed(side) is not None for side in part.split("=") if side.strip())
        for part in alternatives(text)
    ) and bool(alternatives(text))
