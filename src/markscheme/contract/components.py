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
import dataclasses
import difflib
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from markscheme.contract.grammar import check_types, made_from
from markscheme.contract.judge import UNDECLARED, Needs
from markscheme.contract.origin import note_source, origin_of
from markscheme.contract.registry import load_all
from markscheme.errors import JudgeError

P = TypeVar("P", bound=type)


@dataclass(frozen=True, kw_only=True, slots=True)
class PartEntry:
    """What is registered under one name.

    Attributes:
        name: as users write it.
        part: the class.
        needs: what it needs; a part that declares nothing may ask a chat model.
        shorthand: the field that `NAME:VALUE` sets; "" for none.
        form: how names of it look, with words in capitals for what is to be filled in.
        example: a name that works.
    """

    name: str
    part: type
    needs: Needs
    shorthand: str
    form: str
    example: str


class PartKind:
    """A kind of part, and what is registered of it."""

    def __init__(self, what: str, method: str) -> None:
        """Begin an empty register.

        Args:
            what: the kind in words, for messages: "entailment test".
            method: what every part of the kind must have.
        """
        self.what = what
        self.method = method
        self._entries: dict[str, PartEntry] = {}
        self._parse = functools.lru_cache(maxsize=256)(self._parsed)

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
            JudgeError: the name is taken, or the class is no frozen keyword-only dataclass with
                the method of its kind.
        """

        def add(cls: P) -> P:
            known = self._entries.get(name)
            same = known is not None and (known.part.__module__, known.part.__qualname__) == (
                cls.__module__, cls.__qualname__,
            )  # fmt: skip
            if known is not None and not same:
                raise JudgeError(
                    f"the name {name!r} of an {self.what} is taken by {known.part.__qualname__} of "
                    f"{known.part.__module__}; choose another"
                )
            parameters = getattr(cls, "__dataclass_params__", None)
            if parameters is None or not parameters.frozen or not hasattr(cls, self.method):
                raise JudgeError(
                    f"{cls.__qualname__} cannot be registered as an {self.what}: it must be a "
                    f"@dataclass(frozen=True, kw_only=True) with a method {self.method}"
                )
            self._entries[name] = PartEntry(
                name=name,
                part=cls,
                needs=needs,
                shorthand=shorthand,
                form=form or name,
                example=example or name,
            )
            self._parse.cache_clear()
            note_source(cls)
            return cls

        return add

    def entries(self) -> Mapping[str, PartEntry]:
        """Everything registered, by name, sorted."""
        load_all()  # modules that register judges register parts too
        return dict(sorted(self._entries.items()))

    def parse(self, text: str) -> Any:
        """The part that a name denotes.

        Raises:
            UnknownNameError: nothing has that name.
            JudgeError: the name is not in the grammar, or a parameter is wrong.
        """
        return self._parse(text)

    def _parsed(self, text: str) -> Any:
        found, keywords = self._split(text)
        part = made_from(found.part, found.name, keywords, source=text, example=found.example)
        check_types(part, found.name)
        validate = getattr(part, "validate", None)
        if validate is not None:
            validate()
        return part

    def needs(self, text: str) -> Needs:
        """What the part that a name denotes needs: its own property `needs`, or as registered.

        Raises:
            As `parse` does.
        """
        declared = getattr(self.parse(text), "needs", None)
        return declared if isinstance(declared, Needs) else self._split(text)[0].needs

    def origin(self, text: str) -> Mapping[str, str]:
        """What the signature adds for a part that markscheme does not ship; see `origin`."""
        return origin_of(self._split(text)[0].part)

    def _split(self, text: str) -> tuple[PartEntry, list[ast.keyword]]:
        """The entry and the parameters of a name."""
        kind, colon, rest = text.partition(":")
        known: Mapping[str, PartEntry] = self._entries
        if re.split("[:(]", text, maxsplit=1)[0].strip() not in known:
            known = self.entries()
        if colon and "(" not in kind:
            found = known.get(kind.strip())
            if found is not None and found.shorthand and rest:
                return found, [ast.keyword(arg=found.shorthand, value=ast.Constant(rest))]
            raise self._unknown(text, known)
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._unknown(text, known) from None
        name, keywords = tree, []
        if isinstance(tree, ast.Call) and not tree.args:
            name, keywords = tree.func, tree.keywords
        if not isinstance(name, ast.Name) or name.id not in known:
            raise self._unknown(text, known)
        if tree is name and _needs_value(known[name.id]):
            raise self._unknown(text, known)
        return known[name.id], keywords

    def _unknown(self, text: str, known: Mapping[str, PartEntry]) -> JudgeError:
        near = difflib.get_close_matches(text.partition("(")[0], known, n=1)
        guess = f"did you mean {known[near[0]].form!r}? " if near else ""
        forms = [repr(known[name].form) for name in sorted(known)]
        choices = ", ".join(forms[:-1]) + f", or {forms[-1]}" if len(forms) > 1 else forms[0]
        example = next((f", as in {one.example!r}" for one in known.values() if _has_form(one)), "")
        return JudgeError(f"no {self.what} named {text!r}; {guess}choose {choices}{example}")


def _has_form(entry: PartEntry) -> bool:
    return entry.form != entry.example


def _needs_value(entry: PartEntry) -> bool:
    """Whether a part has a parameter without a default."""
    return any(
        field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        for field in dataclasses.fields(entry.part)
    )
