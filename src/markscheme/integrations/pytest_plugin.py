"""A pytest plugin: `assert_answer(...)` in tests, and a gate on the share accepted of a suite.

Installed with markscheme; nothing is loaded before a test asks for it.

    def test_capital(assert_answer):
        assert_answer(ask("Capital of France?"), question="Capital of France?", references="Paris")

    pytest --markscheme-fail-under 0.8 --markscheme-confidence 0.95
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from markscheme.api import Judgment


class Item(NamedTuple):
    """One answer that a test had judged, and the test."""

    question: str
    references: list[str]
    answer: str | None
    test: str


class Suite:
    """The judgments of a run of tests: (what was judged, judgment), in order."""

    def __init__(self) -> None:
        self.judged: list[tuple[Item, Judgment]] = []


SUITE: pytest.StashKey[Suite] = pytest.StashKey()
_HANDED_OVER = "markscheme"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the gate."""
    group = parser.getgroup("markscheme", "answers judged by markscheme")
    group.addoption(
        "--markscheme-judge", default="examiner", help="Judge of assert_answer [examiner]."
    )
    group.addoption(
        "--markscheme-fail-under",
        type=float,
        default=None,
        help="Fail the run if less than this share of the answers is accepted (0.8, say); "
        "single answers then no longer fail their tests.",
    )
    group.addoption(
        "--markscheme-confidence",
        type=float,
        default=None,
        help="Be so sure (0.95, say) that the share accepted is not below the limit.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start a suite; a limit that no share can be compared with is refused before any test."""
    config.stash[SUITE] = Suite()
    limit = config.getoption("--markscheme-fail-under")
    confidence = config.getoption("--markscheme-confidence")
    if limit is None and confidence is not None:
        raise pytest.UsageError("--markscheme-confidence requires --markscheme-fail-under")
    if limit is not None:
        from markscheme.agreement import gates
        from markscheme.errors import MarkschemeError

        try:
            gates([], limit, confidence=confidence)
        except MarkschemeError as error:
            raise pytest.UsageError(str(error)) from None


@pytest.fixture
def assert_answer(request: pytest.FixtureRequest) -> Callable[..., Judgment]:
    """Judge an answer, and fail the test if it is not accepted.

    Called as `assert_answer(answer, *, question, references, judge=None)`, gives the judgment.
    With `--markscheme-fail-under` a wrong answer counts against the suite's accuracy in place of
    failing its test. An answer that could not be judged always fails its test, with the status.
    """
    config = request.config

    def check(
        answer: str | None,
        *,
        question: str,
        references: str | Sequence[str],
        judge: str | None = None,
    ) -> Judgment:
        __tracebackhide__ = True
        from markscheme.api import mark, several
        from markscheme.errors import MarkschemeError

        wanted = several(references)
        name = judge or config.getoption("--markscheme-judge")
        try:
            judgment = mark(question, wanted, answer, judge=name)  # type: ignore[arg-type]
        except MarkschemeError as error:
            pytest.fail(str(error), pytrace=False)
        config.stash[SUITE].judged.append(
            (Item(question, wanted, answer, request.node.nodeid), judgment)
        )
        if judgment.status != "judged":
            pytest.fail(f"{name} could not judge {answer!r}: {judgment.status}", pytrace=False)
        if not judgment.verdict and config.getoption("--markscheme-fail-under") is None:
            reason = f"\n{judgment.explanation}" if judgment.explanation else ""
            pytest.fail(
                f"{name} rejects {answer!r} as an answer to {question!r}; expected "
                f"{' or '.join(map(repr, wanted))}{reason}",
                pytrace=False,
            )
        return judgment

    return check


def _gates(config: pytest.Config) -> Sequence[Any]:
    """How each judge's share compares with the limit; empty without one or without answers."""
    judged = config.stash[SUITE].judged
    limit = config.getoption("--markscheme-fail-under")
    if limit is None or not judged:
        return []
    from markscheme.agreement import gates

    confidence = config.getoption("--markscheme-confidence")
    return gates(_records(judged), limit, confidence=confidence)


def _records(judged: Sequence[tuple[Item, Judgment]]) -> list[dict[str, Any]]:
    """The figures of every judge, as a run's summary has them."""
    import polars as pl

    from markscheme.engine import summarise
    from markscheme.tables import JUDGMENTS_SCHEMA

    records = []
    for name in dict.fromkeys(one.judge for _, one in judged):
        mine = [(item.question, one) for item, one in judged if one.judge == name]
        table = pl.LazyFrame(
            [{key: getattr(one, key, None) for key in JUDGMENTS_SCHEMA} for _, one in mine],
            schema=JUDGMENTS_SCHEMA,
        )
        clusters = pl.DataFrame({"question": [question for question, _ in mine]}).select(
            pl.lit("all").cast(pl.Categorical).alias("system"), pl.col("question").hash()
        )
        records += summarise(table.with_columns(signature=pl.lit("")), clusters)
    return records


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run where less of the suite is accepted than the limit.

    A worker of pytest-xdist sees a part of the suite: it hands that over, and holds it to nothing.
    """
    handed_over: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if handed_over is not None:
        judged = session.config.stash[SUITE].judged
        handed_over[_HANDED_OVER] = [[list(item), asdict(one)] for item, one in judged]
        return
    if not all(gate.passed for gate in _gates(session.config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ARG001 - pytest-xdist's names
    """Take over what a worker of pytest-xdist has judged."""
    handed_over = getattr(node, "workeroutput", {}).get(_HANDED_OVER, ())
    if handed_over:
        from markscheme.api import Judgment

        node.config.stash[SUITE].judged += [
            (Item(*item), Judgment(**fields)) for item, fields in handed_over
        ]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the share that each judge accepts, and the limit."""
    limit = 100 * (config.getoption("--markscheme-fail-under") or 0)
    if config.getoption("--markscheme-fail-under") is not None and not config.stash[SUITE].judged:
        terminalreporter.section("markscheme")
        terminalreporter.line(f"no answer was judged, so none is held to {limit:g}")
    for gate in _gates(config):
        terminalreporter.section("markscheme")
        terminalreporter.line(gate.outcome)
        if not gate.passed:
            for line in _culprits(config.stash[SUITE].judged, gate.judge):
                terminalreporter.line(line)
        if gate.confidence is not None:
            from markscheme.results import records_population

            mine = [pair for pair in config.stash[SUITE].judged if pair[1].judge == gate.judge]
            about = records_population(_records(mine))
            terminalreporter.line(f"this bound is for {about}")


_SHOWN = 5
"""Rejected answers that a gate that fails names."""


def _culprits(judged: Sequence[tuple[Item, Judgment]], judge: str) -> list[str]:
    """The first answers that a judge rejects, each with its test and the reason."""
    from markscheme.analysis import in_a_line, rejection

    lines = []
    wrong = [(item, one) for item, one in judged if one.judge == judge and one.verdict is False]
    for item, one in wrong[:_SHOWN]:
        found = rejection(item.question, item.references, item.answer, relation=one.relation)
        row = {**item._asdict(), "evidence": found.evidence, "explanation": one.explanation}
        lines.append(f"rejected: {in_a_line(row)} [{item.test}]")
    if len(wrong) > _SHOWN:
        lines.append(f"and {len(wrong) - _SHOWN:,} more")
    return lines
