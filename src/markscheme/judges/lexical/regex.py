"""The judge that reads references as regular expressions, as CuratedTREC has them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import polars as pl

from markscheme.contract import ModelSource, register
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import LEXICAL
from markscheme.metrics import TimedSearch, read_pattern

_NOT_PATTERNS = "the references are plain text, not regular expressions"
_NO_PATTERN = "no pattern to look for"

Outcome = tuple[str, bool | None, str]
_SCHEMA = {"status": pl.String, "verdict": pl.Boolean, "explanation": pl.String}


@register(
    "regex",
    paper="Kamalloo et al. 2023, section 6",
    needs=LEXICAL,
    example="regex(ignore_case=false)",
)
@dataclass(frozen=True, kw_only=True)
class Regex:
    """A reference, read as a regular expression, matches anywhere in the answer.

    Patterns mean what they mean in Python, `^` and `$` matching at line ends too, and upper and
    lower case alike unless `ignore_case=false`: so the evaluators used with CuratedTREC read them.
    They run on RE2, in linear time; what RE2 refuses (such as look-around) runs in another process,
    for at most `time_limit` seconds of processor time for all of an answer's. An answer that no
    pattern matched, with a pattern invalid or undecided in that time, is `failed`, with the pattern
    named. Rows of plain-text references, by `reference_kind`, are `skipped`.
    """

    ignore_case: bool = True
    time_limit: float = 0.5

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        if not self.time_limit > 0:
            raise JudgeError(f"time_limit={self.time_limit} must be more than 0 seconds")
        unknown = pl.repeat(None, answers.height, eager=True)
        kinds = answers.get_column("reference_kind", default=unknown)
        rows = zip(answers["answer"], answers["references"].to_list(), kinds, strict=True)
        with closing(TimedSearch(limit=self.time_limit)) as slow:
            outcomes = [
                ("skipped", None, _NOT_PATTERNS)
                if kind == "text"
                else self._outcome(answer, [p for p in patterns or () if p is not None], slow)
                for answer, patterns, kind in rows
            ]
        frame = pl.DataFrame(outcomes, schema=_SCHEMA, orient="row")
        return frame.with_columns(score=pl.col("verdict").cast(pl.Float64))

    def _outcome(self, answer: str, sources: Sequence[str], slow: TimedSearch) -> Outcome:
        if not sources:
            return "skipped", None, _NO_PATTERN
        patterns = [read_pattern(source, ignore_case=self.ignore_case) for source in sources]
        undecided = []
        for pattern in patterns:
            if not pattern.decides(answer):
                undecided.append(pattern)
            elif pattern.found_in(answer):
                return "judged", True, f"matches {pattern.source!r}"
        trouble = ""
        slower = []
        for pattern in undecided:
            if pattern.error:
                trouble = f"{pattern.source!r} is not a valid regular expression: {pattern.error}"
            else:
                slower.append(pattern)
        found = slow.search(slower, answer) if slower else []
        if any(found):
            return "judged", True, f"matches {slower[len(found) - 1].source!r}"
        if len(found) < len(slower):
            source = slower[len(found)].source
            trouble = f"{source!r} was not decided within {self.time_limit:g} seconds"
        if trouble:
            return "failed", None, trouble
        return "judged", False, "matches no pattern"
