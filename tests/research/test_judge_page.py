"""The page of all judges: none is missing, its figures are those recorded, and those hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from markscheme.contract import judges, parse_judge
from markscheme.errors import JudgeError
from markscheme_research.papers import bench
from markscheme_research.papers.judge_page import (
    LISTWISE,
    NEVER,
    OURS,
    calls,
    measured,
    page,
    record,
)

ROOT = Path(__file__).parents[2]
SHIPPED = {n: one for n, one in judges().items() if one.judge.__module__.split(".")[0] in OURS}


def test_the_page_is_the_one_that_the_registry_and_the_record_make() -> None:
    written = (ROOT / "docs" / "reference" / "judges.md").read_text("utf-8")
    command = "python -m markscheme_research.papers.judge_page > docs/reference/judges.md"
    assert written == page(), command


def test_every_judge_is_listed_once_and_has_figures_or_a_reason() -> None:
    needs, _, rest = page().partition("## Verdicts against people's")
    assert sorted(re.findall(r"^\| `(\w+)` \|", needs, re.MULTILINE)) == sorted(SHIPPED)
    figures, _, without = rest.partition("## Without a figure")
    for name in SHIPPED:
        shown = re.search(rf"`{name}[`(]", figures) is not None
        assert shown != (f"| `{name}` |" in without), name
    assert NEVER.keys() <= SHIPPED.keys()


def test_calls_are_counted_by_the_judges_themselves() -> None:
    def counted(name: str) -> str:
        return calls(parse_judge(name), SHIPPED[name].needs)

    assert counted("contains") == "none"
    assert counted("listwise") == "1"
    assert counted("pairwise") == "4"  # one for each reference
    assert counted("preference") == "2"  # both orders
    assert calls(None, SHIPPED["llm_prompt"].needs) == "as its file says"


def test_the_record_names_judges_that_exist_and_no_figure_out_of_range() -> None:
    for name in measured()["judge"].unique():
        if name not in ("BEM", "InstructGPT"):
            try:
                parse_judge(name)
            except JudgeError as error:
                pytest.fail(f"{name}: {error}")
    assert measured().select("judge", "dataset").is_duplicated().sum() == 0
    assert measured()["accuracy"].is_between(0, 1).all()
    assert (measured()["not_judged"] <= measured()["answers"]).all()


def test_the_trained_judge_of_lists_has_the_figures_of_its_card() -> None:
    card = (ROOT / "docs" / "non-factoid.md").read_text("utf-8")
    rows = re.findall(r"^\| (?:ANTIQUE-dev \| 33221100|TREC-DL-NF \| 3210) \|(.*)\|$", card, re.M)
    cells = [[one.strip(" *") for one in row.split("|")] for row in rows]
    both = [tuple(float(row[place].split()[0].strip("*")) for row in cells) for place in (2, 4)]
    assert both == list(LISTWISE.values())


@pytest.mark.needs_data
def test_recorded_figures_are_found_again(data_dir: Path) -> None:
    again = bench("nq301", judges=("contains", "token_f1"), data_dir=data_dir, modes=False).frame
    known = measured().filter(pl.col("dataset") == "nq301")
    for judge in ("contains", "token_f1", "BEM", "InstructGPT"):
        for figure in ("accuracy", "f1", "kappa", "auroc", "tau"):
            (ours,) = again.filter(pl.col("judge") == judge)[figure]
            (recorded,) = known.filter(pl.col("judge") == judge)[figure]
            assert ours == pytest.approx(recorded, abs=1e-4), (judge, figure)


def test_a_new_figure_replaces_the_earlier_one_and_keeps_the_others(tmp_path: Path) -> None:
    figures = {"accuracy": 0.5, "f1": 0.5, "kappa": 0.0, "auroc": 0.5, "tau": None}

    def found(judge: str, kappa: float) -> Path:
        row = {"judge": judge, "dataset": "nq301", "answers": 9, "not_judged": 1, **figures}
        path = tmp_path / f"{judge}-{kappa}.json"
        path.write_text(json.dumps({"sets": [{"judges": [row | {"kappa": kappa}]}]}))
        return path

    target = tmp_path / "measured.csv"
    record([found("contains", 0.1), found("exact match", 0.9)], target)
    record([found("token_f1", 0.2)], target)
    both = record([found("contains", 0.3)], target)
    assert dict(both.select("judge", "kappa").iter_rows()) == {"contains": 0.3, "token_f1": 0.2}
    assert pl.read_csv(target).height == 2
