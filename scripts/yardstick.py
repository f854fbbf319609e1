"""What the product says now, compared with what was last recorded.

    make yardstick                  # or: python scripts/yardstick.py [--all FILE]
    make yardstick-accept ENTRY="judge/examiner commands/agree" REASON="dates in Dutch are read"

Code may be moved and rewritten as long as this finds no difference. What is recorded, and how, is
in `yardstick_entries.py`: entries (`judge/examiner`) have rows (an answer), and rows have fields (a
score). The record is `tests/yardstick/record.json.xz`; why it was ever changed is next to it, in
`accepted.md`.

Numbers may differ by 0.001, since processors add in different orders. Everything else is exact, but
for two things that hang on such a number: a verdict, and the relation that follows from it, where
the score lies within 0.001 of the judge's threshold; and a score that an explanation rounds.
"""

from __future__ import annotations

import argparse
import datetime
import json
import lzma
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "yardstick"

TOLERANCE = 1e-3
"""Of floats: absolute below 1, and relative above."""

DECIDED_BY_SCORE = ("verdict", "relation")
"""Fields that may differ where the score is as near to the judge's threshold as `TOLERANCE`."""

WITH_ROUNDED_NUMBERS = ("explanation", "line *")
"""Texts in which a number with decimals may differ by one in its last place: 0.3649999 and 0.365
are the same score by `TOLERANCE`, and round to 0.36 and 0.37. Scores are fields of their own."""

JUDGE_ROW = "judge"
"""The row of an entry that says something of the judge: its `threshold`."""

SHOWN = 20
"""Differences of an entry that are printed; `--all` writes the others too."""

ABSENT = "(absent)"

Fields = dict[str, Any]
Rows = dict[str, Fields]
Record = dict[str, Rows]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One value that is not as recorded. `row` and `field` are empty where the whole entry is new
    or has vanished, `field` where the row is."""

    entry: str
    row: str = ""
    field: str = ""
    before: Any
    after: Any

    def __str__(self) -> str:
        """`row, field: before -> after`, each value cut to what a line takes."""
        place = ", ".join(part for part in (self.row, self.field) if part) or "the whole entry"
        place = place.replace("\n", "\\n")
        return f"{place}: {_short(self.before)} -> {_short(self.after)}"


def _short(value: Any, most: int = 160) -> str:
    text = value if value == ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]}..."


def differences(before: Mapping[str, Rows], after: Mapping[str, Rows]) -> Iterator[Difference]:
    """Every difference, by entry, row and field; what is only on one side counts as one."""
    for entry in sorted({*before, *after}):
        if entry not in before or entry not in after:
            sides = [
                f"{len(side[entry])} rows" if entry in side else ABSENT for side in (before, after)
            ]
            yield Difference(entry=entry, before=sides[0], after=sides[1])
        else:
            yield from _of_entry(entry, before[entry], after[entry])


def _of_entry(entry: str, before: Rows, after: Rows) -> Iterator[Difference]:
    threshold = before.get(JUDGE_ROW, {}).get("threshold")
    for row in sorted({*before, *after}):
        old, new = before.get(row), after.get(row)
        if old is None or new is None:
            sides = [ABSENT if one is None else one for one in (old, new)]
            yield Difference(entry=entry, row=row, before=sides[0], after=sides[1])
            continue
        undecided = all(_is_near(one.get("score"), threshold) for one in (old, new))
        for field in sorted({*old, *new}):
            if undecided and field in DECIDED_BY_SCORE:
                continue
            values = old.get(field, ABSENT), new.get(field, ABSENT)
            rounded = any(fnmatchcase(field, one) for one in WITH_ROUNDED_NUMBERS)
            if not is_same(*values, rounded=rounded):
                yield Difference(
                    entry=entry, row=row, field=field, before=values[0], after=values[1]
                )


def _is_near(score: Any, threshold: Any) -> bool:
    return _is_number(score) and _is_number(threshold) and is_same(float(score), float(threshold))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_same(before: Any, after: Any, *, rounded: bool = False) -> bool:
    """Whether two values are the same: floats by `TOLERANCE`, all else exactly.

    Args:
        before, after: what JSON can hold.
        rounded: of texts, whether they may differ in the last place of a decimal number.
    """
    if _is_number(before) and _is_number(after):
        if isinstance(before, int) and isinstance(after, int):
            return before == after
        if math.isnan(before) or math.isnan(after):
            return math.isnan(before) and math.isnan(after)
        # 0.5 and 0.501 are a little more than 0.001 apart, as floats.
        near = abs(before - after) <= TOLERANCE * max(1.0, abs(before)) + 1e-9
        return bool(before == after or near)
    if type(before) is not type(after):
        return False
    if isinstance(before, list):
        pairs = zip(before, after, strict=False)
        return len(before) == len(after) and all(is_same(a, b, rounded=rounded) for a, b in pairs)
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(
            is_same(value, after[key], rounded=rounded) for key, value in before.items()
        )
    if isinstance(before, str) and rounded:
        return _is_same_text(before, after)
    return bool(before == after)


def _is_same_text(before: str, after: str) -> bool:
    olds, news = (re.split(r"(\d+\.\d+)", text) for text in (before, after))
    return len(olds) == len(news) and all(
        old == new or (number % 2 == 1 and _is_same_rounded(old, new))
        for number, (old, new) in enumerate(zip(olds, news, strict=True))
    )


def _is_same_rounded(before: str, after: str) -> bool:
    places = {len(one.partition(".")[2]) for one in (before, after)}
    return len(places) == 1 and abs(float(before) - float(after)) <= 1.001 * 10.0 ** -max(places)


def accept(
    before: Record, after: Record, entries: Iterable[str], reason: str
) -> tuple[Record, list[Difference]]:
    """The record with the named entries as they are now, and the differences that this accepts.

    Args:
        before: as recorded.
        after: as it is now.
        entries: names, or patterns such as `judge/*`; `all` is every one.
        reason: why they changed.

    Raises:
        ValueError: there is no reason, no entry is named, or a name fits nothing that changed.
    """
    if not reason.strip():
        raise ValueError('nothing is accepted without a reason: REASON="why this changed"')
    found = list(differences(before, after))
    changed = sorted({one.entry for one in found})
    accepted: set[str] = set()
    for name in entries:
        fitting = {one for one in changed if name in ("all", one) or fnmatchcase(one, name)}
        if not fitting:
            known = ", ".join(changed) or "nothing"
            raise ValueError(f"no entry {name} has changed; these have: {known}")
        accepted |= fitting
    if not accepted:
        raise ValueError('name the entries to accept: ENTRY="judge/examiner commands/agree"')
    kept = {name: rows for name, rows in before.items() if name not in accepted}
    taken = {name: after[name] for name in accepted if name in after}
    return {**kept, **taken}, [one for one in found if one.entry in accepted]


def read_record(folder: Path) -> Record:
    """What was recorded in a folder; nothing if nothing was yet."""
    file = folder / "record.json.xz"
    return json.loads(lzma.decompress(file.read_bytes())) if file.exists() else {}


def write_record(folder: Path, record: Record) -> None:
    """Record it, in the same bytes wherever that is done."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, sort_keys=True, ensure_ascii=False, indent=0)
    (folder / "record.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))


def write_reason(folder: Path, accepted: Sequence[Difference], reason: str) -> None:
    """Add to `accepted.md` which entries were accepted when and why, with counts of values."""
    file = folder / "accepted.md"
    head = "# Why the record was changed\n\nWritten by `make yardstick-accept`; the latest last.\n"
    counts = Counter(one.entry for one in accepted)
    if len(counts) > SHOWN:
        counts = Counter(f"{one.entry.partition('/')[0]}/*" for one in accepted)
    names = ", ".join(f"`{name}` ({count})" for name, count in sorted(counts.items()))
    lines = [f"\n## {datetime.date.today()}: {' '.join(reason.split())}\n", f"\n{names}\n"]
    file.write_text("".join([file.read_text("utf-8") if file.exists() else head, *lines]), "utf-8")


def report(found: Sequence[Difference]) -> Iterator[str]:
    """Lines that name the differences by entry, the first of each."""
    by_entry: dict[str, list[Difference]] = {}
    for one in found:
        by_entry.setdefault(one.entry, []).append(one)
    for entry, each in by_entry.items():
        yield f"{entry}: {len(each)} different"
        yield from (f"  {one}" for one in each[:SHOWN])
        if len(each) > SHOWN:
            yield f"  ... and {len(each) - SHOWN} more"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or accept. Exit code 0: as recorded, or accepted. 1: different. 2: not accepted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", type=Path, metavar="FILE", help="write every difference there")
    parser.add_argument("--accept", metavar="ENTRIES", help="names or patterns, or 'all'")
    parser.add_argument("--reason", default="", help="why these entries changed")
    options = parser.parse_args(arguments)
    if options.accept is not None and not (options.accept.strip() and options.reason.strip()):
        parser.error("name what is accepted, and why: ENTRY='judge/examiner' REASON='...'")
    from yardstick_entries import record_all

    before, after = read_record(FOLDER), record_all()
    if options.accept is not None:
        try:
            before, accepted = accept(before, after, options.accept.split(), options.reason)
        except ValueError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        write_record(FOLDER, before)
        write_reason(FOLDER, accepted, options.reason)
        print(f"accepted: {len(accepted):,} differences")
    found = list(differences(before, after))
    if options.all is not None:
        options.all.write_text("".join(json.dumps(asdict(one)) + "\n" for one in found), "utf-8")
    for line in report(found):
        print(line)
    values = sum(len(fields) for rows in after.values() for fields in rows.values())
    print(f"{len(after)} entries, {values:,} values: {len(found):,} different from the record")
    return 1 if found and options.accept is None else 0


if __name__ == "__main__":
    sys.exit(main())
