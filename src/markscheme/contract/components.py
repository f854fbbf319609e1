"""Registered parts of judges that are no judges: entailment tests, makers of statements.

A part is named by text in the grammar of judges' names, so that it can be a parameter of a judge:

    entailment(test=embedded, statements=rules)
    entailment(test='nli:cross-encoder/nli-deberta-v3-large')
    entailment(test=mine(threshold=0.7))

`KIND:VALUE` is short for `KIND(FIELD='VALUE')`, where the part was registered with a `shorthand`.
Modules of the entry-point group `markscheme.judges` register parts as they register judges.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from markscheme.contract.grammar import call_of, check, made_from
from markscheme.contract.judge import UNDECLARED, Needs
from markscheme.contract.origin import origin_of
from markscheme.contract.registry import Entry, Register
from markscheme.errors import UnknownNameError

P = TypeVar("P", bound=type)


class PartKind(Register):
    """A kind of part, and what is registered of it."""

    def __init__(self, what: str, method: str) -> None:
        """Begin an empty register; see `Register`."""
        super().__init__(what, method)
        self.parse = functools.lru_cache(maxsize=256)(self._parsed)

    def register(
        self,
        name: str,
        *,
        needs: Needs = UNDECLARED,
        shorthand: str = "",
        form: str = "",
        example: str = "",
    ) -> Callable[[P], P]:
        """Class decorator: make a part known under `name`.

        Args:
            name: as users write it.
            needs: what it needs; a part that declares nothing may ask a chat model.
            shorthand: the field that `NAME:VALUE` sets.
            form: how its names look, such as `nli:NAME_OR_FOLDER`; `name` if empty.
            example: a name that works; `name` if empty.

        Raises:
            JudgeError: as `Register.add` does.
        """

        def add(cls: P) -> P:
            words = {"shorthand": shorthand, "form": form or name, "example": example or name}
            self.add(Entry(name=name, cls=cls, needs=needs, **words))
            self.parse.cache_clear()
            return cls

        return add

    def _parsed(self, text: str) -> Any:
        """The part that a name denotes.

        Raises:
            UnknownNameError: nothing has that name, or it has no such parameter.
            JudgeError: a parameter is wrong.
        """
        kind, colon, rest = (one.strip() for one in text.partition(":"))
        try:
            node = ast.parse(kind if colon and "(" not in kind else text.strip(), mode="eval").body
            name, call = call_of(node) or ("", None)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            name, call = "", None
        known = self.known if name in self.known else self.entries()
        found = known.get(name)
        if colon and found is not None and call is None:
            value = ast.keyword(arg=found.shorthand, value=ast.Constant(rest))
            node = ast.Call(func=node, args=[], keywords=[value])
        if found is None or (call is None and colon and not (found.shorthand and rest)):
            forms = ", ".join(repr(known[one].form) for one in sorted(known))
            given = name if name and found is None else text
            raise UnknownNameError(self.what, given, known, f"choose {forms}")
        part = made_from(found, node, source=text)
        check(part, found.name)
        return part

    def needs(self, text: str) -> Needs:
        """What the part that a name denotes needs: its own property `needs`, or as registered.

        Raises:
            As `parse` does.
        """
        return self.own_needs(self.parse(text))

    def origin(self, text: str) -> Mapping[str, str]:
        """What the signature adds for a part that markscheme does not ship; see `origin`."""
        return origin_of(type(self.parse(text)))
