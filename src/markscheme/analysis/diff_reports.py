"""A comparison of two runs as other tools read it: a Markdown comment, JUnit, SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import orjson
import polars as pl

from markscheme.analysis.diff_tables import FLIPS, plain, shown_answer
from markscheme.results import Table
from markscheme.text import markdown_cell

_MOST = 60_000
"""Characters of a comment; GitHub takes 65,536."""


def comment(said: str, tables: Sequence[Table], pairs: pl.DataFrame, *, flips: int) -> str:
    """A Markdown comment: the headline, the figures, and what got worse, folded in."""
    worse = pairs.filter(pl.col("change") == "worse")
    # The headline may quote a question.
    parts = [f"### markscheme: {markdown_cell(said)}", ""]
    for table in tables:
        if table.title != FLIPS:
            bare = replace(table, notes=tuple(note for note in table.notes if note != said))
            parts += [bare.markdown().replace("### ", "#### ", 1)]
    items = [_item(row) for row in worse.head(flips).iter_rows(named=True)]
    if items:
        shown = f"{len(items):,} of {worse.height:,} answers that got worse"
        parts += [f"<details><summary>{shown}</summary>", "", *items, "", "</details>"]
    text = "\n".join(parts) + "\n"
    if len(text) > _MOST and items:
        return comment(said, tables, pairs, flips=len(items) // 2)
    return text


def _item(row: dict[str, Any]) -> str:
    # What a system said may hold Markdown, HTML or an @mention: none has an effect in code.
    def code(text: str | None) -> str:
        return f"<code>{escape(plain(text)).replace('|', '&#124;').replace('`', '&#96;')}</code>"

    references = " or ".join(map(code, (row["references"] or [])[:3]))
    return (
        f"- {code(row['question'])}: {code(row['new_answer'])}, before "
        f"{code(row['base_answer'])}; reference {references}. {code(row['evidence'])}"
    )


def junit(pairs: pl.DataFrame, *, judge: str, gate: str, failed: bool) -> str:
    """JUnit XML with a test case for the gate and one for each pair.

    Args:
        pairs: as `paired` gives them.
        judge: whose verdicts.
        gate: the headline.
        failed: whether the gate fails. If not, no test case does: a tool that reads the file must
            come to the gate's result.
    """
    counts = {name: int((pairs["change"] == name).sum()) for name in ("worse", "not compared")}
    suite = ElementTree.Element(
        "testsuite",
        name=f"markscheme diff ({_xml(judge)})",
        tests=str(1 + pairs.height),
        failures=str(1 + counts["worse"] if failed else 0),
        skipped=str(counts["not compared"]),
        errors="0",
    )
    whole = ElementTree.SubElement(suite, "testcase", name="gate", classname="markscheme diff")
    ElementTree.SubElement(whole, "failure" if failed else "system-out").text = _xml(gate)
    named = Counter[tuple[str, str]]()
    for row in pairs.iter_rows(named=True):
        name, system = _xml(plain(row["question"])), _xml(row["system"] or "system")
        named[name, system] += 1
        # Of several answers to a question, as in a week's nights, tools would show the last alone.
        again = named[name, system]
        case = ElementTree.SubElement(
            suite,
            "testcase",
            name=name if again == 1 else f"{name} ({again})",
            classname=system,
        )
        if row["change"] == "worse":
            lines = _xml("\n".join(_lines(row)))
            if failed:
                failure = ElementTree.SubElement(
                    case, "failure", type=row["mode"], message=_xml(row["evidence"])
                )
                failure.text = lines
            else:
                said = f"worse than before: {_xml(row['evidence'])}\n{lines}"
                ElementTree.SubElement(case, "system-out").text = said
        elif row["change"] == "not compared":
            ElementTree.SubElement(case, "skipped", message="no verdict on one of the sides")
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _lines(row: dict[str, Any]) -> Iterable[str]:
    yield f"question: {row['question']}"
    yield f"reference: {' | '.join(row['references'] or [])}"
    for side in ("base", "new"):
        yield f"{side}: {shown_answer(row[f'{side}_answer'])}"
    if row["new_explanation"]:
        yield f"the judge says: {row['new_explanation']}"


def _xml(text: str) -> str:
    """The text without signs that XML 1.0 cannot hold."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else " " for sign in text)


def sarif(pairs: pl.DataFrame, *, source: str, rows: int) -> str:
    """SARIF 2.1.0 with a result for each answer that got worse.

    Args:
        pairs: as `paired` gives them.
        source: the file of the new answers.
        rows: how many it has.
    """
    from markscheme.analysis.rejections import REJECTIONS

    lines = _line_numbers(source, rows)
    worse = pairs.filter(pl.col("change") == "worse")
    results = [
        {
            "ruleId": row["mode"],
            "level": "error",
            "message": {"text": "\n".join([row["evidence"], *_lines(row)])},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(Path(source).as_posix())},
                        "region": {"startLine": lines.get(row["new_place"], 1)},
                    },
                    "logicalLocations": [{"name": plain(row["question"]), "kind": "question"}],
                }
            ],
        }
        for row in worse.iter_rows(named=True)
    ]
    used = dict.fromkeys(worse["mode"].drop_nulls())
    rules = [{"id": mode, "shortDescription": {"text": REJECTIONS[mode]}} for mode in used]
    driver = {"name": "markscheme", "rules": rules}
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def _line_numbers(source: str, rows: int) -> dict[int, int]:
    """The line of each row in a file that has one row per line; empty for other sources, and where
    lines were left out or are several answers."""
    file = Path(source)
    if file.suffix != ".jsonl" or not file.is_file():
        return {}
    with file.open("rb") as lines:
        filled = (number for number, line in enumerate(lines, 1) if line.strip())
        found = dict(enumerate(filled))
    return found if len(found) == rows else {}
