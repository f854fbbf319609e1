r"""Regular expressions written out: the readable texts that a reference pattern matches.

CuratedTREC's patterns are mostly lists of spellings (`Mt\.? (?:St\.|Saint) Helens?`), and judges
that compare texts need the spellings. Each that is given matches its pattern as a whole; a pattern
that matches unlimited texts (`5\d+ feet`) is left out.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MOST = 12
"""Expansions of a pattern that are given by default."""

_TRIED = 400
"""Texts tried for one pattern; alternatives multiply."""
_LARGEST_CLASS = 4
"""Characters of a class that are written out, each; larger ones mean "any" and are not."""


class _EndlessError(Exception):
    """A part of the pattern matches more texts than can be written out."""


def expand_pattern(pattern: str, *, most: int = MOST, ignore_case: bool = True) -> list[str]:
    r"""The texts that a pattern matches, the most natural spelling first.

    Args:
        pattern: in the syntax of Python's `re`.
        most: texts at most.
        ignore_case: as the pattern is to be read.

    Returns:
        Texts without repeats, each matching the whole pattern; `[]` where it is not valid, or
        matches unlimited texts. Of alternatives, unlimited ones are left out.

    >>> expand_pattern(r"Mt\.? (?:St\.|Saint) Helens?", most=3)
    ['Mt. St. Helens', 'Mt. St. Helen', 'Mt. Saint Helens']
    >>> expand_pattern(r"1\d+ feet")
    []
    """
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern, flags)
            tree = parser.parse(pattern, flags)
    except (re.error, OverflowError, RecursionError):
        return []
    found: dict[str, None] = {}
    try:
        for text in itertools.islice(_texts(list(tree)), _TRIED):
            shown = " ".join(text.split())
            if any(sign.isalnum() for sign in shown) and compiled.fullmatch(shown):
                found[shown] = None
            if len(found) >= most:
                break
    except (_EndlessError, RecursionError):
        return []
    return list(found)


def _texts(items: list[tuple[Any, Any]]) -> Iterator[str]:
    """Every text of a sequence of parts, the first choice of each part first."""
    if not items:
        yield ""
        return
    first, rest = items[0], items[1:]
    for head in _part(*first):
        for tail in _texts(rest):
            yield head + tail


def _part(kind: Any, value: Any) -> Iterator[str]:
    """The texts of one part of a parsed pattern.

    Raises:
        _EndlessError: they cannot be written out.
    """
    if kind is code.LITERAL:
        yield chr(value)
    elif kind is code.AT:
        yield ""
    elif kind is code.ANY:
        # "J.F.K" and "Mt. Everest": an unescaped dot is nearly always meant as itself or a space.
        yield from (".", " ")
    elif kind is code.SUBPATTERN:
        yield from _texts(list(value[3]))
    elif kind is code.BRANCH:
        yield from _alternatives([list(branch) for branch in value[1]])
    elif kind in (code.MAX_REPEAT, code.MIN_REPEAT):
        yield from _repeated(*value)
    elif kind is code.IN:
        yield from _class(value)
    elif kind is getattr(code, "ATOMIC_GROUP", None):
        yield from _texts(list(value))
    else:  # look-around, references to groups, NOT_LITERAL
        raise _EndlessError


def _alternatives(branches: list[list[tuple[Any, Any]]]) -> Iterator[str]:
    """Texts of each alternative in turn, so that none is crowded out; endless ones are left out.

    Raises:
        _EndlessError: every alternative is endless.
    """
    waiting = [_texts(branch) for branch in branches]
    endless = 0
    while waiting:
        for one in list(waiting):
            try:
                yield next(one)
            except StopIteration:
                waiting.remove(one)
            except _EndlessError:
                waiting.remove(one)
                endless += 1
    if endless == len(branches):
        raise _EndlessError


def _repeated(least: int, most: Any, item: Any) -> Iterator[str]:
    """A repeated part, once before not at all; `.*` and `\\s*` are a space."""
    parts = list(item)
    if len(parts) == 1 and parts[0][0] is code.ANY:
        yield from (" ",) if most != 1 else ("", " ", ".")
        return
    if len(parts) == 1 and _is_space(parts[0]):
        yield from (" ", "") if least == 0 else (" ",)
        return
    if most is code.MAXREPEAT and not (len(parts) == 1 and parts[0][0] is code.LITERAL):
        raise _EndlessError
    counts = [max(least, 1), *([0] if least == 0 else [])]
    for count in counts:
        yield from _texts(parts * count)


def _is_space(part: tuple[Any, Any]) -> bool:
    kind, value = part
    if kind is code.LITERAL:
        return chr(value).isspace()
    return kind is code.IN and all(
        one == (code.CATEGORY, code.CATEGORY_SPACE)
        or (one[0] is code.LITERAL and chr(one[1]).isspace())
        for one in value
    )


def _class(items: list[tuple[Any, Any]]) -> Iterator[str]:
    """The characters of a class where they are few; a space for `\\s`."""
    found: list[str] = []
    for kind, value in items:
        if kind is code.LITERAL:
            found.append(chr(value))
        elif kind is code.RANGE and value[1] - value[0] < _LARGEST_CLASS:
            found += [chr(one) for one in range(value[0], value[1] + 1)]
        elif kind is code.CATEGORY and value is code.CATEGORY_SPACE:
            found.append(" ")
        elif kind is code.CATEGORY and value is code.CATEGORY_NOT_WORD:
            found += [" ", "-"]
        else:
            raise _EndlessError
    if len(found) > _LARGEST_CLASS:
        raise _EndlessError
    yield from found


def literal_pattern(text: str) -> str:
    r"""A pattern that finds `text` as it is, and not inside longer words or numbers.

    Without look-around, so that it runs in linear time.

    >>> import re
    >>> bool(re.search(literal_pattern("6"), "1,600")), bool(re.search(literal_pattern("6"), "6."))
    (False, True)
    """
    words = r"\s+".join(re.escape(word) for word in text.split())
    stripped = text.strip()
    before = r"(?:^|[^\w.,]|(?:^|\D)[.,])" if stripped[:1].isalnum() else ""
    after = r"(?:$|[^\w.,]|[.,](?:\D|$))" if stripped[-1:].isalnum() else ""
    return f"{before}{words}{after}"
