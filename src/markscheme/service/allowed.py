"""Which judges a client may ask for, and the name each answers to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from markscheme.contract import (
    Judge,
    ModelSource,
    judge_name,
    judges,
    name_of,
    needs_of,
    parse_judge,
    parts,
)
from markscheme.engine import signed
from markscheme.errors import MarkschemeError
from markscheme.flags import CLEANING
from markscheme.judges.lexical import Regex
from markscheme.service.problems import Refusal

DEFAULT = "examiner"


@dataclass(frozen=True)
class Served:
    """A judge that may be requested.

    Attributes:
        waits: whether it, or a judge inside it, needs something that is not in the package, and
            may wait for what is not on this machine.
        patterns: whether it tries clients' regular expressions, of which each may take a second.
    """

    name: str
    judge: Judge
    models: ModelSource | None
    waits: bool

    @cached_property
    def patterns(self) -> bool:
        return any(isinstance(part, Regex) for part in parts(self.judge))

    @cached_property
    def signature(self) -> str:
        """What must be equal before figures may be compared."""
        return signed(self.judge, self.models, CLEANING)


class Allowed:
    """The judges of a service.

    A client names one by the text that was allowed, with its parameters or without. Text from a
    client is only looked up: nothing is made from it, so parameters (a file to read, a model to
    ask) are those the configuration names and no others.
    """

    def __init__(self, names: Sequence[str], models: ModelSource | None = None) -> None:
        """Make every judge.

        Args:
            names: what `--allow` says; none allows the judges that need nothing.
            models: opens weights and servers for them.

        Raises:
            JudgeError, UnknownNameError: a name is wrong.
            ModelError: a judge that is named lacks its model.
        """
        self.served: list[Served] = []
        self._named: dict[str, Served] = {}
        for text in names or judges_that_need_nothing():
            judge = parse_judge(text)
            name = judge_name(judge)
            if name not in self._named:
                served = Served(name, judge, models, waits=not needs_of(judge).nothing)
                self.served.append(served)
                self._named[name] = served
            self._named[text.strip()] = self._named[name]
        for served in self.served if names else ():
            served.signature  # noqa: B018 - what a named judge lacks is reported now, not to a client.
        self.default: Served = self._named.get(DEFAULT, self.served[0])

    def find(self, name: str | None) -> Served:
        """The judge that a request names; the default where it names none.

        Raises:
            Refusal: there is no such judge (404), or it is not allowed (403).
        """
        if name is None:
            return self.default
        found = self._named.get(name.strip())
        if found is not None:
            return found
        choices = ", ".join(served.name for served in self.served)
        bare = re.match(r"\s*(\w{1,100})", name)
        if bare is None or bare[1] not in judges():
            raise Refusal(404, f"no judge has that name; there are {choices}")
        forms = [served.name for served in self.served if name_of(served.judge) == bare[1]]
        if forms:
            raise Refusal(
                403,
                f"{bare[1]} is not allowed with these parameters, only as {', '.join(forms)}. The "
                "operator of the service allows other parameters with --allow",
            )
        how = f"--allow {bare[1]}{' and --model' * (judges()[bare[1]].needs.chat is True)}"
        raise Refusal(
            403,
            f"{bare[1]} is not allowed; allowed are {choices}. The operator of the service allows "
            f"it with {how}",
        )


def judges_that_need_nothing() -> list[str]:
    """Registered judges that work without parameters, keys, models and extras."""
    found = []
    for name, known in judges().items():
        if known.needs.nothing:
            with suppress(MarkschemeError):  # It has parameters without defaults.
                parse_judge(name)
                found.append(name)
    return found
