"""Questions and answers as statements, and how good the statements are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.contract import ModelSource
from markscheme.errors import DataError
from markscheme.flags import columns_option
from markscheme.judges.entailment import statement_maker
from markscheme.models import Models
from markscheme.results import Table, TableResult, check_ending
from markscheme.tables import ReadOptions, read_answers, read_table, renamed, write_table
from markscheme_research.studies import Nearness, nearness

GOLD = ("statement", "turker_answer", "gold_statement", "declarative")
"""Columns that hold people's statements; `turker_answer` is QA2D's."""

PAPER = (
    ("GPT-3.5, two examples", (0.725, 0.925, 0.835, 0.858)),
    ("QA2D-t5-base", (0.727, 0.901, 0.824, 0.858)),
)
"""Yao & Barbosa 2024, Table 8, on the 10,344 pairs of QA2D's development part."""

WRITERS = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
"""Endings of the files that rows are written to."""

_OUTCOME = ("statement", "status", "reason", "raw")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StatementsResult(TableResult):
    """Statements by every maker. `frame` has a row per pair and maker: statement, status, reason.

    Attributes:
        made: the same, a frame for each maker.
        counts: by maker, how many pairs have which status.
    """

    made: Mapping[str, pl.DataFrame]
    counts: Mapping[str, Mapping[str, int]]

    def excerpt(self, pairs: int = 12) -> list[tuple[str, list[str]]]:
        """The first pairs, as text, each with every maker's statement, or why there is none."""
        first = next(iter(self.made.values()))
        return [
            (f"{question}  |  {answer}", [self._statement(name, place) for name in self.made])
            for place, (question, answer) in enumerate(
                first.select("question", "answer").head(pairs).iter_rows()
            )
        ]

    def _statement(self, maker: str, place: int) -> str:
        row = self.made[maker].row(place, named=True)
        lead = f"{maker}: " if len(self.made) > 1 else ""
        return lead + (row["statement"] or f"[{row['status']}: {row['reason']}]")

    @property
    def pairs(self) -> int:
        """How many questions with an answer there are."""
        return next(iter(self.made.values())).height

    @property
    def outcomes(self) -> list[str]:
        """By maker, a line that says how many statements were made and what became of the rest."""
        return [_outcome(name, dict(counts)) for name, counts in self.counts.items()]

    def write(self, path: str | Path) -> Path:
        """Write every statement: .jsonl, .csv, .tsv or .parquet.

        Raises:
            MarkschemeError: another ending.
        """
        target = Path(path)
        check_ending(target, WRITERS)
        write_table(self.frame, target)
        return target


def _outcome(name: str, counts: dict[str, int]) -> str:
    total = sum(counts.values())
    done = counts.pop("judged", 0)
    rest = "".join(f", {count:,} {status}" for status, count in counts.items())
    return f"{name}: {done:,} of {total:,} statements made{rest}"


def make_statements(
    file: str,
    makers: Sequence[str] = ("rules",),
    *,
    gold: str | None = None,
    references: bool = False,
    columns: Mapping[str, str] | None = None,
    models: ModelSource | None = None,
) -> StatementsResult:
    """Turn question-answer pairs into statements, and compare them with people's statements.

    Args:
        file: answers, or a file like QA2D with people's statements.
        makers: `rules`, `chat` or `seq2seq:NAME_OR_FOLDER`.
        gold: people's statements: a column of the file, or another file; None finds a column.
        references: make statements of the references too.
        columns: columns with unusual names, ours to the file's.
        models: opens weights and servers for makers that need some.

    Returns:
        Statements, with a table of BLEU and ROUGE (Yao & Barbosa 2024, Table 8) where there are
        people's statements.

    Raises:
        DataError: the files cannot be read, or do not match.
        ModelError: as the makers do.
    """
    chosen = {name: statement_maker(name) for name in dict.fromkeys(makers)}
    pairs = _read(file, gold=gold, columns=columns or {}, references=references)
    opened = Models() if models is None else models
    made = {name: maker.make(pairs, opened) for name, maker in chosen.items()}
    frame = pl.concat(
        table.select(*pairs.columns, pl.lit(name).alias("maker"), *_OUTCOME)
        for name, table in made.items()
    )
    counts = {
        name: dict(table["status"].value_counts(sort=True).iter_rows())
        for name, table in made.items()
    }
    data: dict[str, Any] = {
        "command": "statements",
        "pairs": pairs.height,
        "makers": [{"maker": name, "status": found} for name, found in counts.items()],
        "statements": frame.to_dicts(),
    }
    tables: tuple[Table, ...] = ()
    if "gold" in pairs.columns:
        figures = {
            name: nearness(table["statement"], table["gold"])
            for name, table in ((name, table.drop_nulls("gold")) for name, table in made.items())
        }
        tables = (_compared(figures),)
        data["nearness"] = [{"maker": name, **asdict(one)} for name, one in figures.items()]
    return StatementsResult(frame=frame, tables=tables, data=data, made=made, counts=counts)


def _read(
    file: str, *, gold: str | None, columns: Mapping[str, str], references: bool
) -> pl.DataFrame:
    """Question, answer and, where there are any, people's statements as `gold`."""

    table = read_table(file)
    own = gold if gold in table.columns else None
    if own is None and gold is None:
        own = next((name for name in GOLD if name in table.columns), None)
    if own is not None:
        table = table.rename({own: "gold"} if own != "gold" else {})
    wanted = ("question", "answer")
    table = renamed(table, columns, wanted, keep=("gold",))
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise DataError(
            f"{file} has no column for {' and '.join(missing)}; its columns are "
            f"{', '.join(table.columns)}. Say which it is with "
            f"{columns_option({missing[0]: 'NAME'})}"
        )
    kept = [name for name in ("answer_id", "id", "system") if name in table.columns]
    with_gold = ["gold"] if own is not None else []
    pairs = table.select(pl.col(*wanted, *with_gold).cast(pl.String), *kept)
    if references or (gold is not None and own is None):
        pairs = pl.concat([pairs, _references(file, columns)], how="diagonal_relaxed")
    if gold is None or own is not None:
        return pairs
    return _with_gold(pairs, gold)


def _references(file: str, columns: Mapping[str, str]) -> pl.DataFrame:
    """Every different question and reference, as question and answer; none without references."""

    try:
        answers = read_answers(file, ReadOptions(columns=columns))
    except DataError:
        return pl.DataFrame(schema={"question": pl.String, "answer": pl.String})
    return (
        answers.select("question", answer="references")
        .explode("answer")
        .drop_nulls()
        .unique(maintain_order=True)
    )


def _with_gold(pairs: pl.DataFrame, gold: str) -> pl.DataFrame:
    """The pairs of which another file has people's statements.

    Raises:
        DataError: `gold` is neither a column nor a file, or none of the pairs is in it.
    """

    if not Path(gold).is_file():
        raise DataError(
            f"--gold {gold!r} is neither a column of the file nor another file; columns that are "
            f"known without being named: {', '.join(GOLD)}"
        )
    people = _read(gold, gold=None, columns={}, references=False)
    if "gold" not in people.columns:
        raise DataError(f"{gold} has no column with statements, such as {', '.join(GOLD)}")
    people = people.select("question", "answer", "gold").unique(
        ["question", "answer"], keep="first", maintain_order=True
    )
    found = pairs.unique(["question", "answer"], keep="first", maintain_order=True).join(
        people, on=["question", "answer"], how="inner", maintain_order="left"
    )
    if found.is_empty():
        raise DataError(f"none of the questions and answers of the file is in {gold}")
    return found


def _compared(figures: Mapping[str, Nearness]) -> Table:
    rows = [_figures(name, one) for name, one in figures.items()]
    rows += [
        (f"{name} (paper)", *(f"{100 * value:.1f}" for value in values), "-", "-")
        for name, values in PAPER
    ]
    pairs = next(iter(figures.values())).pairs
    header = ("maker", "BLEU", "ROUGE-1", "ROUGE-2", "ROUGE-L", "same", "not made")
    return Table(
        title=f"Statements against people's, {pairs:,} pairs, in per cent",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[1:]),
        notes=(
            "BLEU of the whole set as sacrebleu has it; ROUGE: mean F-measure without stemming; "
            "same: equal but for case, marks and articles. A statement not made counts as empty.",
            "paper: Yao & Barbosa 2024, Table 8, measured on QA2D's 10,344 development pairs; only "
            "figures on those pairs compare.",
        ),
    )


def _figures(name: str, found: Nearness) -> tuple[str, ...]:
    shares = (found.bleu, found.rouge1, found.rouge2, found.rouge_l, found.exact)
    return (name, *(f"{100 * value:.1f}" for value in shares), f"{found.missing:,}")
