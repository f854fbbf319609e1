"""How many good statements are refused, and how many bad ones: the figures of docs/entailment.md.

`statements_good.jsonl` has statements as a good model writes them, `statements_bad.jsonl` what must
not pass for one. Both were written one by one for this, from no data set, the good ones in two
turns: the kind `written last` when the check had been corrected by the others. Printed by
`PYTHONPATH=tests/support python -m grounding_figures`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import orjson

from markscheme.judges.entailment import read_statement

TEXTS = Path(__file__).parents[1] / "text"


def rows(name: str) -> list[dict[str, str]]:
    """The rows of one of the two files."""
    lines = (TEXTS / f"statements_{name}.jsonl").read_bytes().splitlines()
    return [orjson.loads(line) for line in lines]


def refused(row: dict[str, str]) -> bool:
    """Whether the reader of statements takes a row's text for none, or for another one."""
    found = read_statement(row["statement"], question=row["question"], answer=row["answer"])
    return found.product != row["statement"]


def figures(name: str) -> str:
    """A Markdown table: rows and refused ones by kind."""
    of = rows(name)
    count = Counter(row["kind"] for row in of)
    lost = Counter(row["kind"] for row in of if refused(row))
    lines = [f"| {name} statements | rows | refused |", "|---|---:|---:|"]
    lines += [f"| {kind} | {number} | {lost[kind]} |" for kind, number in count.items()]
    share = lost.total() / count.total()
    lines.append(f"| **all** | **{count.total()}** | **{lost.total()}** ({share:.1%}) |")
    return "\n".join(lines)


if __name__ == "__main__":
    print("\n\n".join(map(figures, ("good", "bad"))))
