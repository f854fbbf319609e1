"""The two stages of judges that compare statements: who makes them, and who tests them."""

from __future__ import annotations

from collections.abc import Mapping

from markscheme.contract import HasLineage, Lineage, Needs, combined
from markscheme.judges.entailment.statement_makers import STATEMENT_MAKERS
from markscheme.judges.entailment.tests import ENTAILMENT_TESTS, EntailmentTest


def stage_needs(statements: str, test: str, own: Needs) -> Needs:
    """What a judge needs together with its two stages; `own` says what it reads of a row."""
    parts = [STATEMENT_MAKERS.needs(statements), ENTAILMENT_TESTS.needs(test)]
    every = combined([own, *parts])
    return Needs(
        chat=every.chat, extras=every.extras, weights=every.weights,
        references=own.references, question=own.question,
    )  # fmt: skip


def stage_lineage(test: EntailmentTest) -> Lineage | None:
    """The questions that trained a judge's test; None where it learned from none."""
    return test.lineage() if isinstance(test, HasLineage) else None


def stage_origins(statements: str, test: str) -> Mapping[str, str]:
    """What the signature adds for stages that markscheme does not ship."""
    found = {
        "statements": STATEMENT_MAKERS.origin(statements),
        "test": ENTAILMENT_TESTS.origin(test),
    }
    return {f"{stage}.{key}": text for stage, added in found.items() for key, text in added.items()}
