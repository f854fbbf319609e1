"""Which system is better: the ranking, the pairs that are shown, and what is not distinguished."""

from __future__ import annotations

import random
from pathlib import Path

import markscheme
from markscheme.reports.material import Material, read_material
from markscheme.reports.payload import later
from markscheme.reports.sections.pairs import pairs


def judged(folder: Path, shares: dict[str, float], questions: int = 120) -> Material:
    """A run of systems that are right on so many answers, each on questions of its own chance."""
    draw = random.Random(3)
    rows = [
        {"question": f"{n}?", "references": ["Paris"], "system": system,
         "answer": "Paris" if draw.random() < share else "Rome"}
        for system, share in shares.items()
        for n in range(questions)
    ]  # fmt: skip
    markscheme.judge(rows, ["exact_match"], out=folder / "run")
    return read_material(folder / "run")


def test_few_systems_have_every_pair_with_its_interval_in_points(tmp_path: Path) -> None:
    section = pairs(judged(tmp_path, {"good": 0.95, "fair": 0.5, "poor": 0.1}))
    assert section is not None
    assert [row[:2] for row in section.table.rows] == [
        ("good", "fair"), ("good", "poor"), ("fair", "poor")
    ]  # fmt: skip
    assert all(" to " in row[2] and "[" not in row[2] for row in section.table.rows)
    assert section.caption.startswith("The judge alone accepts good most often: ")
    assert "chance" not in section.caption


def test_many_systems_have_their_neighbours_and_who_is_level_with_the_best(tmp_path: Path) -> None:
    shares = {"best": 0.9, "level": 0.89, **{f"poor-{n:02}": 0.3 for n in range(10)}}
    section = pairs(judged(tmp_path, shares))
    assert section is not None
    rows = section.table.rows
    assert len(rows) == 11
    assert {*rows[0][:2]} == {"best", "level"}
    assert section.caption.count("no more than chance explains") == 1
    assert "66 pairs" in section.table.notes[0]


def test_systems_on_different_questions_are_marked(tmp_path: Path) -> None:
    rows = [
        {"question": f"{system} {n}?", "references": ["Paris"], "system": system,
         "answer": "Paris" if n % of else "Rome"}
        for system, of in (("good", 10), ("fair", 2))
        for n in range(60)
    ]  # fmt: skip
    markscheme.judge(rows, ["exact_match"], out=tmp_path / "run")
    material = read_material(tmp_path / "run")
    # The page would call a p of other questions one of the score test by question.
    assert later(material)["answers"]["pairs"] == {"exact_match": []}
    section = pairs(material)
    assert section is not None
    assert section.table.header[-1] == "on"
    [row] = section.table.rows
    assert row[-1] == "different questions"
    notes = " ".join(section.table.notes)
    assert "good and fair are on different questions: what the questions differ by" in notes
    assert "p: newcombe" in notes
    assert "both answered" not in notes
