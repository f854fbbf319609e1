"""People's labels, in the shapes they come in, as one tidy table: one row per answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from markscheme.errors import AgreementError, DataError, did_you_mean
from markscheme.flags import columns_option
from markscheme.tables.columns import (
    ANNOTATOR,
    KEYS,
    LABEL_OF,
    annotators_among,
    holds_labels,
    is_annotator,
    labels_of_systems,
    plain_name,
    renamed,
)
from markscheme.tables.files import Source, read_table
from markscheme.tables.joins import REMARKS, check_key, text_columns, text_keys
from markscheme.tables.label_values import blank_words, is_binary, parse_labels
from markscheme.tables.validation import Trouble, no_label_remarks, number_lists

FINAL_LABEL = "final_label"
"""Of a person's rating, the label that the item has in the end."""

ANNOTATOR_COLUMNS = "annotator columns"
"""The column of a run's labels with the names of the columns that `annotator_labels` was in."""

LABEL_COLUMNS = (
    "label",
    "annotator_labels",
    "annotators",
    "item",
    "inclusion_probability",
    "stratum",
    REMARKS,
)


def load_labels(
    source: Source,
    *,
    names: Mapping[str, str] | None = None,
    positive_from: float | None = None,
) -> pl.DataFrame:
    """Labels as a table: the key columns present, `label` (Float64, null is unlabelled).

    Columns such as `gpt-4o_label`, `claude_label` become a row each with their `system`.
    `annotator1`, `annotator2`, ..., a list column `annotator_labels`, or one row per annotator (a
    column `annotator`) become `annotator_labels`; the label of an answer is then as
    `decided_labels` has it. `annotators` are their names, in the same order.

    Ratings as `annotate-export --as ratings` writes them (columns `part` and `final_label`):
    annotators are those of part `first`, with their labels before they saw any judge's verdict; the
    label is the one that the app gave the item, null while it has none. `item`, of both exports,
    numbers what was labelled once, however many systems gave it. `inclusion_probability` and
    `stratum`, as `plan-labels` writes them, are retained. `remarks` counts the words that are no
    label (`?`).

    Args:
        source: a file, a data frame or a list of dicts.
        names: other names of columns, ours to theirs (`{"label": "Urteil", "question": "Frage"}`;
            of the labels of one system `{"label:gpt-4o": "Urteil"}`).
        positive_from: the grade from which an answer is acceptable; None for labels of 0 and 1.

    Raises:
        DataError: no label column, no key, or values that are no label.
        AgreementError: an annotator labelled an answer twice, or ratings of an earlier version,
            which do not say what the label is.
    """
    mapping = dict(names or {})
    of_systems = {
        ours.removeprefix(LABEL_OF): mapping.pop(ours)
        for ours in list(mapping)
        if ours.startswith(LABEL_OF)
    }
    given = read_table(source)
    table = renamed(given, mapping, ("answer_id", "question", "answer", "system", "label"))
    own = mapping.get("label", "")
    if is_annotator(own):
        table = table.with_columns(given[own])  # One annotator's, and the label too.
    # Only a labelling project names the people whose labels it lists.
    exported = {"annotators", "annotator_labels"} <= {*with_names(table).columns}
    if ANNOTATOR_COLUMNS in table.columns:
        table = table.drop("annotators", strict=False).rename({ANNOTATOR_COLUMNS: "annotators"})
    if not {"system", "label"} & set(table.columns):
        table = _a_row_a_system(table, of_systems or labels_of_systems(table.columns))
    final = FINAL_LABEL in table.columns
    remarks = no_label_remarks(_words_without_value(table, mapping))
    table = _with_annotators(table, mapping)
    label = pl.repeat(None, table.height, dtype=pl.Float64, eager=True)
    decided = False
    if "label" in table.columns:
        label = parse_labels(table["label"].alias(mapping.get("label", "label")))
        # What a project left empty stays so, and what the one person did whose labels are wanted.
        decided = final or (label.count() > 0 and (exported or is_annotator(own)))
    if "annotator_labels" in table.columns and not decided:
        label = decided_labels(label, table["annotator_labels"], positive_from=positive_from)
    elif not (decided or label.count()):
        raise _no_labels(table, mapping.get("label", "label"), given.columns)
    table = table.with_columns(label.alias("label"))
    check_key(table, "labels", given.columns)
    if "inclusion_probability" in table.columns:
        table = table.with_columns(inclusion_probabilities(table["inclusion_probability"]))
    if remarks:
        table = table.with_columns(pl.lit(remarks, dtype=pl.List(pl.String)).alias(REMARKS))
    kept = [name for name in (*KEYS, *LABEL_COLUMNS) if name in table.columns]
    return text_keys(table.select(kept))


def _words_without_value(table: pl.DataFrame, names: Mapping[str, str]) -> Counter[str]:
    """How many labels are a word such as `?` or `n/a`, which says that there is none."""
    words = Counter[str]()
    for name, kind in table.schema.items():
        if kind == pl.String and (name == "label" or is_annotator(name)):
            words += blank_words(table[name], "" if name == "label" else names.get(name, name))
    return words


def _no_labels(table: pl.DataFrame, column: str, names: Sequence[str]) -> DataError:
    """What to say of labels that are none.

    Args:
        table: under our names.
        column: what the column of the label is called in the file.
        names: all columns as they are there.
    """
    if "label" in table.columns:
        return DataError(
            f"no label is filled in: the column {column!r} is empty throughout; name another with "
            "--label-column (Python: label_column=...)"
        )
    guess = did_you_mean("label", names) or ";"
    return DataError(
        f"the labels have no column 'label'{guess} name it with --label-column (Python: "
        "label_column=...). Labels of several people belong in columns 'annotator1', 'annotator2', "
        "...; other names are given with "
        f"{columns_option(dict.fromkeys(('annotator1', 'annotator2'), 'NAME'))}, and those of each "
        f"system's answers with {columns_option({'label:SYSTEM': 'NAME', 'label:OTHER': 'NAME'})}. "
        f"The columns are {', '.join(map(repr, names))}"
    )


def _a_row_a_system(table: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    """A wide table's labels, one column per system, below each other."""
    if not columns:
        return table
    rest = [name for name in table.columns if name not in columns.values()]
    parts = [
        table.select(*rest, pl.lit(system).alias("system"), pl.col(theirs).alias("label"))
        for system, theirs in columns.items()
    ]
    # A column may be empty, or have true where another has 1.
    return pl.concat(parts, how="vertical_relaxed")


def _with_annotators(table: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    called = [name for name in table.columns if plain_name(name) in ANNOTATOR]
    if "annotator" not in table.columns and len(called) == 1:
        table = table.rename({called[0]: "annotator"})
    table = with_names(table)
    if "annotator" in table.columns and "label" in table.columns:
        return _one_row_an_answer(table)
    if "annotator_labels" in table.columns:
        lists = _label_lists(table["annotator_labels"])
        held = holds_labels(lists)
        return table.with_columns(lists) if held else table.drop("annotator_labels")
    columns = list(annotators_among(table.columns).values())
    if not columns:
        return table
    parsed = table.select(parse_labels(table[name]).alias(name) for name in columns)
    called = [names.get(name, name) for name in columns]
    return table.with_columns(
        parsed.select(pl.concat_list(columns)).to_series().alias("annotator_labels"),
        pl.lit(called, dtype=pl.List(pl.String)).alias("annotators"),
    )


def with_names(table: pl.DataFrame) -> pl.DataFrame:
    """A table whose `annotators` are lists of names; without them where they are something else.

    They are JSON in CSV, which has no lists; else how many there were, or names in one text.
    """
    if "annotators" not in table.columns or table.schema["annotators"] == pl.List(pl.String):
        return table
    try:
        text = pl.col("annotators").cast(pl.String).replace("", None)  # Of a label of nobody known.
        names = text.str.json_decode(pl.List(pl.String))
        return table.with_columns(names)
    except pl.exceptions.PolarsError:
        return table.drop("annotators")


def inclusion_probabilities(given: pl.Series) -> pl.Series:
    """`inclusion_probability` as numbers.

    Raises:
        DataError: a value that is no number.
    """
    plain = given
    if given.dtype == pl.String:  # A spreadsheet may have written a decimal comma.
        plain = given.str.replace(r"^(\s*\d*),(\d+\s*)$", "${1}.${2}")
    chances = plain.cast(pl.Float64, strict=False)
    wrong = (chances.is_null() & given.is_not_null()).arg_true()
    if len(wrong):
        raise DataError(
            f"the inclusion_probability of row {wrong[0] + 1:,} is {str(given[wrong[0]])[:40]!r}, "
            "which is not a number; 'plan-labels' writes them, from above 0 to 1"
        )
    return chances


def _label_lists(given: pl.Series) -> pl.Series:
    """`annotator_labels` as lists of numbers: they are JSON text in CSV, which has no lists.

    Raises:
        DataError: something else; the first rows are named.
    """
    trouble: Trouble = {}
    lists = number_lists(given, "annotator_labels", trouble)
    if trouble:
        rows = "; ".join(f"row {row + 1}: {what}" for row, what in sorted(trouble.items())[:3])
        raise DataError(f"{len(trouble):,} of {len(given):,} rows have no list of labels: {rows}")
    return lists.alias("annotator_labels")


def _one_row_an_answer(table: pl.DataFrame) -> pl.DataFrame:
    """Labels with one row per annotator, as one row per answer; annotators sorted by name.

    Raises:
        AgreementError: an annotator labelled the same answer twice.
    """
    keys = [name for name in KEYS if name in table.columns]
    parsed = text_columns(table, ["annotator"]).with_columns(parse_labels(table["label"]))
    firsts, rated = parsed, "part" in parsed.columns
    if rated:
        lacking = {FINAL_LABEL, "item"}.difference(parsed.columns)
        if lacking:
            raise AgreementError(
                f"the ratings have a column 'part' and no {min(lacking)!r}: an earlier version "
                "wrote them; write them again with 'annotate-export --as ratings', or rename it"
            )
        firsts = parsed.filter(pl.col("part") == "first")
        if firsts.is_empty() and (parsed["part"] == "known").any():
            raise AgreementError(
                "the ratings are labels that came with the answers (part 'known'), and nobody has "
                "labelled any yet; 'annotate-export' without --as writes them as labels"
            )
        if firsts.is_empty():
            raise AgreementError(
                "the ratings have a column 'part' and no row of part 'first'; give the file that "
                "'annotate-export --as ratings' wrote, or rename the column"
            )
    own = "label_before_suggestion" if "label_before_suggestion" in firsts.columns else "label"
    firsts = firsts.with_columns(parse_labels(firsts[own]).alias("own"))
    twice = firsts.filter(pl.struct(*keys, "annotator").is_duplicated())
    if twice.height:
        raise AgreementError(
            f"annotator {twice['annotator'][0]!r} labelled an answer twice: "
            f"{twice.select(keys).row(0)}"
        )
    wide = firsts.pivot(on="annotator", index=keys, values="own", sort_columns=True)
    names = [name for name in wide.columns if name not in keys]
    lists = wide.select(pl.concat_list(names)).to_series()
    found = wide.select(keys).with_columns(
        lists.alias("annotator_labels"), pl.lit(names, dtype=pl.List(pl.String)).alias("annotators")
    )
    if rated:
        finals = parsed.unique(keys, keep="first", maintain_order=True)
        finals = finals.select(*keys, "item", parse_labels(finals[FINAL_LABEL]).alias("label"))
        found = finals.join(found, on=keys, how="left", nulls_equal=True, maintain_order="left")
    design = [name for name in ("inclusion_probability", "stratum") if name in parsed.columns]
    drawn = parsed.group_by(keys).agg(pl.col(design).drop_nulls().first())
    return found.join(drawn, on=keys, how="left", nulls_equal=True, maintain_order="left")


def ratings_table(annotator_labels: pl.Series, names: pl.Series | None = None) -> pl.DataFrame:
    """One column an annotator, from a Series of lists (`annotator_labels` of the answers table).

    Columns are called by `names` (a Series of equal lists), or annotator1, annotator2, ...
    Shorter lists are filled with blanks on the right, since the n-th place belongs to the n-th
    annotator. Whose place is blank throughout is no annotator.

    Raises:
        AgreementError: the lists hold nothing.
    """
    width: Any = annotator_labels.list.len().max()
    if not holds_labels(annotator_labels):
        raise AgreementError("no label is filled in: those of all annotators are blank")
    called = [f"annotator{place + 1}" for place in range(width)]
    if names is not None and names.drop_nulls().n_unique() == 1:
        given = names.drop_nulls()[0].to_list()
        called = given if len(given) == width else called
    columns = [annotator_labels.list.get(place, null_on_oob=True) for place in range(width)]
    return pl.DataFrame(
        {name: one for name, one in zip(called, columns, strict=True) if one.count()}
    )


def decided_labels(
    labels: pl.Series, annotator_labels: pl.Series, *, positive_from: float | None = None
) -> pl.Series:
    """Labels, and what the annotators decide where there is none.

    Where no answer has a label, it is the annotators' `majority`. Next to others, which somebody
    decided, an empty one may be meant so; it is theirs where more than half of all annotators,
    those who left it blank included, gave the same. The labelling app decides by that rule, too.

    Args:
        labels: of each answer; null where it has none.
        annotator_labels: of each answer, a list of its annotators' labels.
        positive_from: the grade from which an answer is acceptable.

    Raises:
        AgreementError: there is neither a label nor an annotator's.
    """
    if labels.count() and not (labels.null_count() and holds_labels(annotator_labels)):
        return labels
    ratings = ratings_table(annotator_labels)
    found = majority(ratings, positive_from=positive_from)
    if not labels.count():
        return found
    alike = ratings.select(pl.sum_horizontal(pl.all() == found)).to_series()
    return labels.zip_with(labels.is_not_null() | (2 * alike <= ratings.width), found)


def majority(ratings: pl.DataFrame, *, positive_from: float | None = None) -> pl.Series:
    """The label of several annotators: of verdicts the majority's, of grades their median.

    Args:
        ratings: one column per annotator.
        positive_from: the grade from which an answer is acceptable.

    Returns:
        `label`: null where all are blank, and where as many accept as reject. Without
        `positive_from` grades are no verdicts, and none is tied.
    """
    given = pl.concat_list(pl.all().cast(pl.Float64)).list.drop_nulls()
    lists = ratings.select(given.alias("given")).to_series()
    if positive_from is None and is_binary(lists.explode()):
        positive_from = 1.0
    tied = pl.lit(value=False)
    if positive_from is not None:
        tied = pl.col("given").list.eval(pl.element() >= positive_from).list.mean() == 0.5
    label = pl.when(~tied).then(pl.col("given").list.median())
    return lists.to_frame().select(label=label).to_series()
