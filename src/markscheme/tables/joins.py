"""Matching judgments with labels and with answers, and saying what did not match.

A row is known by `answer_id`, or by `question` and `answer` (and `system` where there is one).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

import polars as pl

from markscheme.errors import AgreementError, DataError
from markscheme.flags import columns_option
from markscheme.tables.columns import ALIASES, KEYS, plain_name
from markscheme.tables.final_answers import MORE, bare_answers
from markscheme.tables.objects import number_text
from markscheme.text import counted, excerpt

_MAY_BE_ID = re.compile(
    r"\b(?:key|uu?id|(?:q|answer|case|doc|example|item|query|question|record|row|sample)?ids?)\b"
)


@dataclass(frozen=True, kw_only=True)
class Joined:
    """Judgments with labels, and the count of everything that was left aside.

    Attributes:
        rows: each judgment with a label: `judge`, `status`, `score`, `verdict` (null where not
            judged), `label`, `cluster` (the question, or the answer where its question is not
            known), and `answer_id`, `question`, `answer`, `system` as far as known.
        judgments: all of them, with a label or without, one row each.
        labels: the labels, with the ids and texts of what was judged; those without a value too.
        key: the columns that judgments and labels were matched on.
        identity: the columns of the judgments by which an answer is known: its id where that is
            the key, else its texts.
        answers: how many were judged, with a label or without.
        listed: those of them that the labels have a row of, with a value or without.
        unlabelled: judgments without a label.
        tied: judged answers without a label whose annotators differ.
        unused_labels: labels without a judgment.
        repeated_labels, repeated_judgments: rows that repeat another one with the same value.
        clustered: whether `cluster` is the question of every answer.
        tied_judgments: judgments of the tied answers.
        remarks: what else there is to say of the labels and of how they were matched.
    """

    rows: pl.DataFrame
    judgments: pl.DataFrame = field(repr=False)
    labels: pl.DataFrame = field(repr=False)
    key: tuple[str, ...]
    identity: tuple[str, ...]
    answers: int
    listed: int
    unlabelled: int
    tied: int
    unused_labels: int
    repeated_labels: int
    repeated_judgments: int
    clustered: bool
    tied_judgments: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def labelled(self) -> int:
        """How many answers have a label."""
        return self.rows.select(self.identity).n_unique()

    @property
    def ties(self) -> list[dict[str, Any]]:
        """By what each tied answer is known: its id, or its texts."""
        return self.tied_judgments.select(self.identity).unique(maintain_order=True).to_dicts()

    def every(self, judge: str | None = None) -> pl.DataFrame:
        """Every answer of one judge once, with its label where it has one.

        Args:
            judge: whose; None where all judgments are one judge's.

        Returns:
            The judgments with `label` and, where the labels have them, `inclusion_probability` and
            `stratum`; `place`, the row of the labels that is of the answer, with a value or
            without; and `cluster`, the number of the question. All but the last may be null.

        Raises:
            AgreementError: only the labels know the question.
        """
        is_theirs = pl.lit(value=True) if judge is None else pl.col("judge") == judge
        table, known = self.judgments.filter(is_theirs), self.rows.filter(is_theirs)
        if "question" in known.columns and "question" not in table.columns:
            raise AgreementError(
                "the judgments do not say which answers share a question, as the labels do; give "
                "the judged file with --answers, or a column 'question' in the judgments"
            )
        table = table.unique(self.identity, keep="first", maintain_order=True)
        design = [n for n in ("inclusion_probability", "stratum") if n in self.labels.columns]
        places = self.labels.select(pl.int_range(pl.len()).alias("place"), *self.key, *design)
        for found, by in (
            (known.select(*self.identity, "label"), self.identity),
            (places.unique(self.key, keep="first"), self.key),
        ):
            table = table.join(found, on=by, how="left", nulls_equal=True, maintain_order="left")
        return table.with_columns(cluster=question_numbers(table))

    def notes(self, *, of_all: bool = False) -> list[str]:
        """What was done, in sentences for the reader.

        Args:
            of_all: whether figures are of all judged answers, and not of the labelled ones alone.
        """
        judgments = counted(self.rows.height, "judgment")
        lacking = ("judgment has no label and is", "judgments have no label and are")
        again = counted(self.repeated_judgments, "repeated judgment")
        said = []
        if not of_all or self.key != KEYS[:1]:
            said.append(f"{judgments} matched with labels by {' and '.join(self.key)}")
        if self.unlabelled and not of_all:
            said.append(f"{counted(self.unlabelled, *lacking)} left out")
        said += self.label_notes()
        said += self._above_one()
        if self.repeated_judgments:
            said.append(f"{again} with the same verdict merged")
        if not of_all and unequal_chances(self.rows):
            said.append(
                "the labelled answers were drawn with unequal chances, so figures describe them "
                "and not all answers; 'markscheme estimate' weighs them"
            )
        if not self.clustered:
            some = "each answer without a question" if _questions(self.rows).count() else ""
            each = some or "no question is known, so each answer"
            said.append(f"{each} counts as its own question")
        return said

    def _above_one(self) -> list[str]:
        """Of judges that accept all they judged, with scores of another scale than 0 to 1."""
        scored = self.judgments.drop_nulls("score").group_by("judge", maintain_order=True)
        found = scored.agg(
            low=pl.col("score").min(), high=pl.col("score").max(), accepted=pl.col("verdict").all()
        ).filter("accepted", pl.col("high") > 1)
        return [
            f"{judge!r} accepts every answer with a score, from {low:g} to {high:g}: where its "
            "verdicts are made of scores, --threshold (Python: threshold=...) says from which; "
            "'markscheme calibrate' chooses one"
            for judge, low, high, _ in found.iter_rows()
        ]

    def label_notes(self) -> list[str]:
        """What there is to say of the labels alone, and of those that are left aside."""
        tied = (
            "labelled answer is left out, as its annotators are tied: decide it",
            "labelled answers are left out, as their annotators are tied: decide them",
        )
        other = ("label is of another answer", "labels are of other answers")
        repeated = counted(self.repeated_labels, "repeated label")
        said = [counted(self.tied, *tied)] if self.tied else []
        if self.unused_labels:
            said.append(f"{counted(self.unused_labels, *other)}, and left out")
        if self.repeated_labels:
            said.append(f"{repeated} with the same value merged")
        said += self.remarks
        blank = self.listed - self.labelled - self.tied
        drawn = "inclusion_probability" in self.labels
        if blank and (drawn or self.listed < self.answers):
            which = "drawn answers" if drawn else "answers in the file of labels"
            said.append(
                f"{blank:,} of the {self.listed:,} {which} have no label; if these are the hard "
                "ones, the labels are not a random sample"
            )
        return said

    def labels_of(self, answers: pl.DataFrame) -> pl.Series:
        """The label of each of some answers that were judged; null without one."""
        known = self.rows.select(*self.identity, "label").unique(self.identity)
        found = answers.select(self.identity).join(
            known, on=self.identity, how="left", nulls_equal=True, maintain_order="left"
        )
        return found["label"]


def join_labels(judgments: pl.DataFrame, labels: pl.DataFrame) -> Joined:
    """Match judgments with labels (tables as `load_judgments` and `load_labels` give them).

    Matched on `answer_id` where both have one in common; else on `question` and `answer`, and
    `system` too where both tables name it.

    Raises:
        AgreementError: nothing matches; the same answer has two labels, or two verdicts of one
            judge.
    """
    remarks, opaque = _remarks(labels), _has_opaque_ids(labels)
    before = int(judgments[_AGAIN].sum()) if _AGAIN in judgments.columns else 0
    judgments = judgments.drop(_AGAIN, strict=False)
    matched, key, notes = matched_on(judgments, labels)
    if "question" in judgments.columns and "question" not in matched.columns:
        # So labels have the same intervals whether they repeat the questions or not.
        asked = judgments.select("answer_id", "question").unique("answer_id", keep="first")
        matched = matched.join(asked, on="answer_id", how="left", maintain_order="left")
    ties = matched.filter(is_tied(matched))
    labels = matched.filter(pl.col("label").is_not_null())
    if labels.is_empty():
        alike = ": annotators are tied on every answer" if ties.height else ""
        raise AgreementError(f"no row of the labels has a label{alike}")
    known, repeated_labels = one_row_each(labels, key, "label", "labels", opaque=opaque)
    identity = key if key == KEYS[:1] else tuple(n for n in KEYS[1:] if n in judgments.columns)
    once, repeated = one_row_each(judgments, (*identity, "judge"), "verdict", "judgments")
    extra = [n for n in known.columns if n not in {*once.columns, REMARKS} or n in key]
    rows = once.join(
        known.select(extra), on=key, how="inner", nulls_equal=True, maintain_order="left"
    )
    if rows.is_empty():
        hint = (
            "; ids of a wide table end with the system: the labels need a column 'system'"
            if "system" not in labels.columns and _ends_with_system(once)
            else "; where another column of the labels holds the ids of answers, name it: "
            f"{columns_option({'answer_id': 'NAME'})}, or match by the texts: "
            f"{columns_option({'answer_id': 'none'} | dict.fromkeys(KEYS[1:], 'NAME'))}"
            if key == ("answer_id",)
            else ""
        )
        raise AgreementError(
            f"no judgment matches a label on {' and '.join(key)}: judgments have "
            f"{once.select(key).row(0)}, labels have {known.select(key).row(0)}{hint}"
        )
    clustered = knows_questions(rows)
    empty = matched.join(known, on=key, how="anti", nulls_equal=True)
    tied, agreed = (
        once.join(empty.filter(which), on=key, how="semi", nulls_equal=True)
        for which in (is_tied(empty), _opinions(empty) == 1)
    )
    once_each = rows.unique(identity, keep="first", maintain_order=True)
    once_each = once_each.select(*identity, cluster=question_numbers(once_each))
    return Joined(
        rows=rows.join(once_each, on=identity, how="left", nulls_equal=True, maintain_order="left"),
        judgments=once,
        labels=matched,
        key=key,
        identity=identity,
        answers=once.select(identity).n_unique(),
        listed=once.join(matched, on=key, how="semi", nulls_equal=True).select(identity).n_unique(),
        unlabelled=once.height - rows.height - tied.height,
        tied=tied.select(identity).n_unique(),
        tied_judgments=tied,
        unused_labels=known.join(once, on=key, how="anti", nulls_equal=True).height,
        repeated_labels=repeated_labels,
        repeated_judgments=before + repeated,
        clustered=clustered,
        remarks=(*notes, *remarks, *_agreed(agreed.select(identity).n_unique())),
    )


def knows_questions(table: pl.DataFrame) -> bool:
    """Whether the question of every row is known."""
    return not _questions(table).null_count()


def _questions(table: pl.DataFrame, column: str = "question") -> pl.Series:
    """What each row answers, as text; null where that is not known."""
    asked = table.get_column(column, default=pl.repeat(None, table.height, eager=True))
    texts = asked.cast(pl.String)
    return texts.set(texts.str.strip_chars() == "", None)


def question_numbers(table: pl.DataFrame, column: str = "question") -> pl.Series:
    """The number of each row's question, from 0; a row without one is a question of its own.

    Args:
        table: the rows, of an answer each.
        column: that says which have the same question; all are apart where it is not there.

    >>> question_numbers(pl.DataFrame({"question": ["b", None, "a", "b", None]})).to_list()
    [1, 2, 0, 1, 3]
    """
    known = _questions(table, column).rank("dense").cast(pl.Int64)
    own = pl.int_range(table.height, eager=True) + table.height + 1
    return (known.fill_null(own).rank("dense").cast(pl.Int64) - 1).alias(column)


def unequal_chances(table: pl.DataFrame) -> bool:
    """Whether those answers of a table that have a `label` were drawn with unequal chances."""
    drawn = table.filter(pl.col("label").is_not_null())
    design = (name for name in ("stratum", "inclusion_probability") if name in drawn.columns)
    return any(drawn[name].n_unique() > 1 for name in design)


REMARKS = "remarks"
"""The column of labels with what was seen when they were read, alike in every row."""


def _remarks(labels: pl.DataFrame) -> tuple[str, ...]:
    # A user's own column may have that name, and holds texts.
    there = labels.height and labels.schema.get(REMARKS) == pl.List(pl.String)
    return tuple(labels[REMARKS][0]) if there else ()


def is_tied(labels: pl.DataFrame) -> pl.Expr:
    """Answers without a label whose annotators differ."""
    return _opinions(labels) > 1


def _opinions(labels: pl.DataFrame) -> pl.Expr:
    """How many different labels several annotators gave to an answer without one; 0 of others."""
    if "annotator_labels" not in labels.columns:
        return pl.lit(0)
    given = pl.col("annotator_labels").list.drop_nulls()
    undecided = pl.col("label").is_null() & (given.list.len() > 1)
    return pl.when(undecided).then(given.list.n_unique()).otherwise(0)


def _agreed(answers: int) -> tuple[str, ...]:
    """What to say of the answers without a label of whose annotators all say the same."""
    what = (
        "answer has an empty label although its annotators agree, and is left out: fill it in",
        "answers have an empty label although their annotators agree, and are left out: fill it in",
    )
    return (counted(answers, *what),) if answers else ()


def _ends_with_system(judged: pl.DataFrame) -> bool:
    """Whether ids are those that `read_answers` gives to the rows of a wide table."""
    if not {"answer_id", "system"} <= set(judged.columns):
        return False
    name, system = judged.select("answer_id", "system").row(0)
    return str(name).endswith(f":{system}")


class Match(NamedTuple):
    """How two tables are matched.

    Attributes:
        table: the second, with the ids of the first where these are the key.
        key: the columns to match on.
        notes: what the reader must know of it.
    """

    table: pl.DataFrame
    key: tuple[str, ...]
    notes: tuple[str, ...] = ()


_EDITED = 0.05
"""Below this share of matched rows, texts that differ under one id are edits of the text."""

_REPEAT = r"(?s)^(.*) \(row \d+\)$"
"""The id of a row that repeats another one, with that one's id (`repeat_ids`)."""

_JUDGED, _LOOSE = " as judged", " without case"
_ROW = "row of the table"
_TEXTS = ("question", "answer")

_OPAQUE = "drawn-"
"""How an id begins that says nothing of its answer; so no spreadsheet takes it for a number."""


def repeat_ids(rows: pl.Series) -> pl.Expr:
    """Ids of rows that repeat an earlier one, and have its `answer_id`, by their numbers."""
    return pl.format("{} (row {})", "answer_id", rows)


def opaque_ids(ids: pl.Series) -> pl.Series:
    """Ids that say nothing of whose the answers are, always the same for the same ids.

    `matched_on` and `known_ids` find the answers again.
    """
    hashes = [
        None if one is None else _OPAQUE + blake2b(one.encode(), digest_size=8).hexdigest()
        for one in ids
    ]
    return pl.Series(ids.name, hashes, dtype=pl.String)


def known_ids(ids: pl.Series, judged: pl.Series) -> pl.Series:
    """Ids of a labelling file as those of what was judged; others stay as they are."""
    if not _has_opaque_ids(ids.to_frame(KEYS[0])):
        return ids
    known = judged.cast(pl.String).drop_nulls().unique()
    return ids.replace(opaque_ids(known), known)


def _has_opaque_ids(table: pl.DataFrame) -> bool:
    """Whether ids are those of a labelling file, which do not say whose the answers are."""
    known = table.schema.get(KEYS[0]) == pl.String
    return known and bool(table[KEYS[0]].str.starts_with(_OPAQUE).any())


def matched_on(judged: pl.DataFrame, table: pl.DataFrame) -> Match:
    """A table of labels or answers with the keys of what was judged, and the columns to match on.

    A row of a wide table has an answer of each system, so that its id is in `judged` with the
    system's name behind it: the id `q1` and the system `terse` of a label are `q1:terse` there.
    Ids, or systems, of which the tables have none in common are no key: other tools number rows
    in their own way, and a table without a column of systems has its file's name there. Nor are
    ids a key where question or answer say that they are of other rows. Texts are matched although
    case or white space differ, where no other text is as near, and although the table has the
    reasoning or the tags that no judge reads (`final_answers`).

    Raises:
        AgreementError: they have no key in common, or the ids contradict the texts and the texts
            do not match either.
    """
    table = _as_judged(table, judged)
    both = set(judged.columns) & set(table.columns)
    systems = "system" in both and table.join(judged, on="system", how="semi").height
    texts = (*_TEXTS, *(["system"] if systems else []))
    textual = both.issuperset(_TEXTS)
    if "answer_id" in both:
        table = table.with_columns(known_ids(table["answer_id"], judged["answer_id"]))
        of_system = pl.format("{}:{}", "answer_id", "system").alias("answer_id")
        wide = [table.with_columns(of_system)] if "system" in both else []
        for known in (table, *wide):
            if not known.join(judged, on="answer_id", how="semi").height:
                continue
            by_id = Match(_with_repeats(known, judged), KEYS[:1])
            return _by_id_or_texts(judged, by_id, table, texts) if textual else by_id
        if not textual:
            return Match(table, KEYS[:1])
    if not textual:
        raise AgreementError(
            "judgments and labels have no key in common: both need 'answer_id', or both "
            "'question' and 'answer'"
        )
    return _by_texts(judged, table, texts)


def _with_repeats(table: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """The table with the row of each answer for its repeats too, which it has under one id.

    `read_answers` gives a row that repeats another one an id of its own. A sample that was drawn
    stays as it is: a repeat that was not drawn is not of it.
    """
    if "inclusion_probability" in table.columns or not set(_TEXTS) <= set(judged.columns):
        return table
    texts = [name for name in KEYS[1:] if name in judged.columns]
    rows = judged.select(pl.col("answer_id").cast(pl.String).alias("id"), "answer_id", *texts)
    repeats = rows.with_columns(first=pl.col("id").str.extract(_REPEAT)).drop_nulls("first")
    repeats = repeats.unique("answer_id").join(
        rows, left_on=("first", *texts), right_on=("id", *texts), how="semi", nulls_equal=True
    )
    new = repeats.join(table, on="answer_id", how="anti").select("first", repeat="answer_id")
    if new.is_empty():
        return table
    once = table.unique("answer_id", keep="first", maintain_order=True)
    more = once.join(new, left_on="answer_id", right_on="first", maintain_order="left")
    more = more.with_columns(answer_id="repeat").select(table.columns)
    return pl.concat([table, more])


def _as_judged(table: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """The table with answers as judges read them, where these and not its own were judged."""
    if not set(_TEXTS) <= set(table.columns) & set(judged.columns):
        return table
    more = table.with_row_index(_ROW).filter(pl.col("answer").str.contains(f"{MORE}|####"))
    other = more.join(judged, on=_TEXTS, how="anti")
    bare = other.with_columns(bare_answers(other))
    bare = bare.join(judged, on=_TEXTS, how="semi", nulls_equal=True)
    return table.with_columns(table["answer"].scatter(bare[_ROW], bare["answer"]))


def plainly_spaced(name: str) -> pl.Expr:
    """A text without white space around it, and one space in place of any other."""
    return pl.col(name).str.replace_all(r"\s+", " ").str.strip_chars()


def _loose(name: str) -> pl.Expr:
    return plainly_spaced(name).str.to_lowercase()


def _by_texts(judged: pl.DataFrame, table: pl.DataFrame, key: tuple[str, ...]) -> Match:
    """The texts as the key: those of what was judged, where one alone is alike but for case or
    white space, and alike to no other of the table.
    """
    if table.join(judged, on=key, how="anti", nulls_equal=True).is_empty():
        return Match(table, key)
    loose = [_loose(name).alias(name + _LOOSE) for name in _TEXTS]
    by = [*(name + _LOOSE for name in _TEXTS), *key[2:]]
    theirs, ours = (
        one.select(key).unique().with_columns(loose).filter(~pl.struct(by).is_duplicated())
        for one in (table, judged)
    )
    differs = pl.any_horizontal(pl.col(name) != pl.col(name + _JUDGED) for name in _TEXTS)
    near = theirs.join(ours, on=by, suffix=_JUDGED).filter(differs)
    found = table.join(near, on=key, how="left", nulls_equal=True, maintain_order="left")
    rows = found[_TEXTS[0] + _JUDGED].count()
    if not rows:
        return Match(table, key)
    texts = (pl.coalesce(name + _JUDGED, name).alias(name) for name in _TEXTS)
    many = counted(rows, "row is", "rows are")
    note = f"{many} matched by texts that differ in case or white space alone"
    return Match(found.with_columns(texts).select(table.columns), key, (note,))


def _by_id_or_texts(
    judged: pl.DataFrame, by_id: Match, table: pl.DataFrame, texts: tuple[str, ...]
) -> Match:
    """The ids as the key if the texts with them agree, else the texts.

    Raises:
        AgreementError: the texts contradict the ids, and no more rows match by them.
    """
    once = judged.select(KEYS[:3]).unique("answer_id", keep="first", maintain_order=True)
    numbered = by_id.table.with_row_index(_ROW, offset=1)
    beside = numbered.join(once, on="answer_id", suffix=_JUDGED, maintain_order="left")
    differ = beside.filter(
        pl.any_horizontal(
            (_loose(name) != _loose(name + _JUDGED)).fill_null(value=False) for name in _TEXTS
        )
    )
    if differ.is_empty():
        return by_id
    row = differ.row(0, named=True)
    # Notes go into pages that may show no text of the data, so they name a row; errors do not.
    first = f"the first is row {row[_ROW]:,}"
    count = f"{differ.height:,} of the {beside.height:,} rows matched by id"
    if differ.height < _EDITED * beside.height:
        return by_id._replace(notes=(f"{count} have another question or answer ({first})",))
    by_texts = _by_texts(judged, table, texts)
    matching = by_texts.table.join(judged, on=texts, how="semi", nulls_equal=True).height
    if matching > beside.height - differ.height:
        note = f"ids are of other rows, so the texts are matched and not the ids ({first})"
        return by_texts._replace(notes=(note, *by_texts.notes))
    here, there = (
        " / ".join(repr(excerpt(row[name + end] or "", 60)) for name in _TEXTS)
        for end in (_JUDGED, "")
    )
    raise AgreementError(
        f"{count} have another question or answer, and the texts match no better: id "
        f"{row['answer_id']!r} is of {here} among what was judged, and of {there} here. Is it the "
        "file of what was judged? If the ids are right and the texts were edited, leave the texts "
        f"out: {columns_option(dict.fromkeys(_TEXTS, 'none'))}"
    )


def numbered(table: pl.DataFrame) -> pl.DataFrame:
    """A table that holds judgments and labels together, with row numbers as `answer_id`.

    So a label is matched with the judgments of its own row even where an answer occurs twice.
    Tables that have ids already, or several rows an answer (a `judge` column), stay as they are.
    """
    names = {plain_name(name) for name in table.columns}
    if names & {*ALIASES["answer_id"], *ALIASES["judge"]}:
        return table
    return table.with_row_index("answer_id", offset=1)


def with_answers(
    judgments: pl.DataFrame, answers: pl.DataFrame, slices: Sequence[str] = ()
) -> pl.DataFrame:
    """Judgments with `answer_id`, `question`, `answer` and `system` of an answers table.

    Matched as judgments and labels are (`matched_on`). Columns that the judgments have already
    stay as they are, but for ids that the answers do not know. Of an answer that occurs several
    times, each row gets the judgment, or the judgment in the same place among several of a judge.

    Args:
        judgments: one row per answer and judge.
        answers: one row per answer.
        slices: columns of the user's own to take as well, where the answers have them.

    Raises:
        AgreementError: the tables have no key in common, or a judgment's answer is not there.
    """
    judgments = _as_judged(judgments, answers)
    answers, key, _ = matched_on(judgments, answers)
    if key != ("answer_id",):
        judgments = judgments.drop("answer_id", strict=False)
    there = {*key, *judgments.columns}
    new = [
        name
        for name in ("answer_id", "question", "answer", "system", *slices)
        if name in answers.columns and name not in there
        if name in slices or answers[name].null_count() < answers.height
    ]
    known = answers.select(*key, *new)
    lost = judgments.join(known, on=key, how="anti", nulls_equal=True)
    if lost.height:
        raise AgreementError(
            f"{lost.height} of {judgments.height} judgments are of answers that the answers file "
            f"does not have, the first being {lost.select(key).row(0)}; is it the file that was "
            "judged?"
        )
    if "answer_id" in new:
        judgments, known = _numbered_alike(judgments, known, key)
        key = (*key, _COPY)
    known = known.unique(key, keep="first", maintain_order=True)
    found = judgments.join(known, on=key, how="left", nulls_equal=True, maintain_order="left")
    return found.drop(_COPY, strict=False)


_COPY = "number of the copy"


def _numbered_alike(
    judgments: pl.DataFrame, answers: pl.DataFrame, key: tuple[str, ...]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both with the number of each copy of an answer; the last judgment is of all that follow."""
    by = [*key, *(["judge"] if "judge" in judgments.columns else [])]
    copy = pl.int_range(pl.len())
    rows = judgments.join(
        answers.group_by(key).agg(pl.len().cast(pl.Int64).alias("copies")),
        on=key,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    ).select(
        *judgments.columns,
        "copies",
        (copy.over(by) == pl.len().over(by) - 1).alias("last"),
        pl.min_horizontal(copy.over(by), pl.col("copies") - 1).alias("first"),
    )
    end = pl.when("last").then("copies").otherwise(pl.col("first") + 1)
    rows = rows.with_columns(pl.int_ranges("first", end).alias(_COPY)).explode(_COPY)
    return rows.drop("copies", "last", "first"), answers.with_columns(copy.over(key).alias(_COPY))


def text_keys(table: pl.DataFrame) -> pl.DataFrame:
    """The table with keys as text, and without keys that are empty throughout."""
    empty = [n for n in KEYS if n in table.columns and table[n].null_count() == table.height]
    return text_columns(
        table.drop(empty), [n for n in KEYS if n in table.columns and n not in empty]
    )


def text_columns(table: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """The table with these columns as text; a number is the same text as in a table of answers."""
    return table.with_columns(
        pl.col(name).map_elements(number_text, return_dtype=pl.String)
        if table.schema[name].is_float()
        else pl.col(name).cast(pl.String)
        for name in names
    )


def check_key(table: pl.DataFrame, what: str, names: Sequence[str] = ()) -> None:
    """Raises DataError where a table has no key to match it by.

    Args:
        table: with our names.
        what: what its rows are.
        names: its columns as they are called in its file.
    """
    if "answer_id" not in table.columns and not {"question", "answer"} <= set(table.columns):
        lacking = [name for name in ("question", "answer") if name not in table.columns]
        named = dict.fromkeys((*lacking, "system"), "NAME")
        ids = [name for name in names if _MAY_BE_ID.search(plain_name(name))]
        raise DataError(
            f"the {what} need 'question' and 'answer' (with 'system', where there are several), or "
            f"'answer_id', to be matched; the columns are "
            f"{', '.join(map(repr, names or table.columns))}. Say which they are: "
            f"{columns_option(named)}, or {columns_option({'answer_id': (*ids, 'NAME')[0]})}"
        )


_AGAIN = "times it was repeated"


def once_each(judgments: pl.DataFrame) -> pl.DataFrame:
    """One judgment of each answer, by its id, and judge; `join_labels` says how many repeated one.

    Raises:
        AgreementError: a judge has two verdicts on an answer.
    """
    key = (KEYS[0], "judge")
    if not set(key) <= set(judgments.columns):
        return judgments
    once, repeated = one_row_each(judgments, key, "verdict", "judgments")
    if not repeated:
        return judgments
    again = judgments.group_by(key).agg((pl.len().cast(pl.Int64) - 1).alias(_AGAIN))
    return once.join(again, on=key, how="left", nulls_equal=True, maintain_order="left")


def known_by(judgments: pl.DataFrame) -> tuple[str, ...]:
    """The columns by which an answer is known without labels: its id, or its texts where ids lack.

    Empty where there are neither.
    """
    if KEYS[0] in judgments.columns and not judgments[KEYS[0]].null_count():
        return KEYS[:1]
    texts = tuple(name for name in KEYS[1:] if name in judgments.columns)
    return texts if set(_TEXTS) <= set(texts) else ()


def one_row_each(
    table: pl.DataFrame, key: tuple[str, ...], value: str, what: str, *, opaque: bool = False
) -> tuple[pl.DataFrame, int]:
    """One row a key, and how many repeated it.

    Args:
        table: the rows.
        key: columns of which a row each is wanted.
        value: the column that is the same in all rows of a key.
        what: its values, in an error.
        opaque: whether an error names ids as a labelling file has them.

    Raises:
        AgreementError: a key has two values.
    """
    if not table.select(key).is_duplicated().any():
        return table, 0
    torn = (
        table.group_by(key, maintain_order=True)
        .agg(pl.col(value).n_unique().alias("values"), pl.len().alias("rows"))
        .filter(pl.col("values") > 1)
    )
    if torn.height:
        first = torn.select(key).head(5)
        if opaque and KEYS[0] in key:
            first = first.with_columns(opaque_ids(first[KEYS[0]]))
        shown = "; ".join(", ".join(map(repr, row)) for row in first.rows())
        raise AgreementError(
            f"{torn.height} answers have contradictory {what}: {shown}"
            f"{'; ...' if torn.height > 5 else ''}. Adjudicate them, or keep one row each"
        )
    once = table.unique(key, keep="first", maintain_order=True)
    return once, table.height - once.height
