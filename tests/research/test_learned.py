"""Learned judges without their models: templates, rows, scores, folders, errors."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
import pytest

from markscheme.contract.grammar import judge_name, parse_judge, signature
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError, MissingExtraError, ModelError
from markscheme.tables.answers import ANSWERS_SCHEMA, read_answers
from markscheme_research.judges.finetuned import causal
from markscheme_research.judges.finetuned.finetuned import Learned
from markscheme_research.judges.finetuned.scores import scored
from markscheme_research.judges.finetuned.templates import VARIANTS, fields_of, material
from markscheme_research.judges.finetuned.v_information import (
    conditional_information,
    informed_share,
)
from markscheme_research.judges.finetuned.weight_files import LearnedFolder


def table() -> pl.DataFrame:
    """Five answers; the third is blank, the fourth has no reference."""
    rows = read_answers(
        [
            {"question": "Where is it filmed?", "references": refs, "answer": answer}
            for refs, answer in [
                (["Oak Island", " ", "Nova Scotia"], "on Oak Island in {Canada}"),
                (["Oak Island"], "Bermuda"),
                (["Oak Island"], "  "),
                (["(none)"], "Oak Island"),
                (["Oak Island"], "Oak Island"),
            ]
        ]
    )
    none = pl.col("references").list.contains("(none)")
    return rows.with_columns(references=pl.when(none).then([]).otherwise("references"))


def folder(place: Path, variant: str = "plain") -> Path:
    """A folder whose adapters hold nothing: what can be known without opening them."""
    for role in VARIANTS[variant]:
        (place / role).mkdir(parents=True)
        (place / role / "adapter_model.safetensors").write_bytes(role.encode())
    settings = {
        "variant": variant,
        "templates": dict(VARIANTS[variant]),
        "base": {"name": "base/model", "revision": "weights:abc"},
    }
    (place / "learned.json").write_bytes(orjson.dumps(settings))
    return place


def test_templates_are_the_papers() -> None:
    plain, nli = VARIANTS["plain"]["verdict"], VARIANTS["nli"]["verdict"]
    filled = plain.format(question="Q", golden="A/B", answer="C")
    assert " ".join(filled.split()) == (
        "[INST] Here is a question, a set of golden answers (split with /), an AI-generated "
        "answer. Can you judge whether the AI-generated answer is correct according to the "
        "question and golden answers, simply answer Yes or No. Question: Q Golden answers: A/B "
        "AI answer: C [/INST]"
    )
    filled = nli.format(question="Q", golden="A", answer="C", entails="yes", entailed="no")
    assert "Can golden answers be inferred from AI answer: yes\n" in filled
    assert filled.endswith("Can AI answer be inferred from golden answers: no\n[/INST]")
    informed = VARIANTS["cvi"]["informed"].format(question="Q", answer="C")
    assert informed == "[INST] Given the fact: C,\nanswer this question: Q\n[/INST]"
    assert VARIANTS["cvi"]["uninformed"].format(question="Q") == (
        "[INST] Answer this question: Q\n[/INST]"
    )
    for templates in VARIANTS.values():
        for template in templates.values():
            assert template.endswith(causal.END)


def test_rows_to_ask_about_leave_out_blanks() -> None:
    rows = material(table(), "plain")
    assert rows["row"].to_list() == [0, 1, 4]
    assert rows["golden"].to_list() == ["Oak Island/Nova Scotia", "Oak Island", "Oak Island"]
    assert set(fields_of(VARIANTS["plain"]["verdict"])) <= set(rows.columns)


def test_entailment_is_told_in_both_directions() -> None:
    rows = material(table(), "nli").select("row", "entails", "entailed").rows()
    assert rows[1:] == [(1, "no", "no"), (4, "yes", "yes")]
    assert rows[0][1] == "yes", "more than the reference entails it"


def test_conditional_information_asks_about_each_reference() -> None:
    rows = material(table(), "cvi")
    assert rows.select("row", "golden").rows() == [
        (0, "Oak Island"), (0, "Nova Scotia"), (1, "Oak Island"), (4, "Oak Island"),
    ]  # fmt: skip


def test_bits_and_shares() -> None:
    informed = np.log(np.array([0.5, 0.1, 0.2]))
    uninformed = np.log(np.array([0.125, 0.1, 0.4]))
    bits = conditional_information(informed, uninformed)
    assert bits == pytest.approx([2.0, 0.0, -1.0])
    assert informed_share(bits) == pytest.approx([0.5 / 0.625, 0.5, 0.2 / 0.6])
    far = informed_share(np.array([-1e9, 1e9]))
    assert far == pytest.approx([0.0, 1.0])


def test_the_best_reference_counts() -> None:
    asked = material(table(), "cvi")
    found = {
        "informed": np.log(np.array([0.25, 0.5, 0.1, 0.8])),
        "uninformed": np.log(np.array([0.5, 0.125, 0.2, 0.1])),
    }
    rows = scored(asked, found)
    assert rows["row"].to_list() == [0, 1, 4]
    assert rows["score"].to_list() == pytest.approx([0.8, 1 / 3, 8 / 9])
    assert rows["reason"][0] == 'the answer holds 2.0 bits about the reference "Nova Scotia"'


def test_yes_against_no_is_the_score() -> None:
    rows = scored(material(table(), "plain"), {"verdict": np.array([0.9, 0.2, 0.6])})
    assert rows["score"].to_list() == [0.9, 0.2, 0.6]
    assert rows["reason"][1] == "Yes 0.2 against No"


def test_it_reads_back_and_its_signature_names_the_adapters(tmp_path: Path) -> None:
    place = folder(tmp_path / "one")
    judge = Learned(weights=str(place), threshold=0.7)
    assert parse_judge(judge_name(judge)) == judge
    before = signature(judge)
    assert f"adapters={LearnedFolder(place).revision}" in before
    assert "base=weights:abc" in before
    (place / "verdict" / "adapter_model.safetensors").write_bytes(b"other")
    assert signature(judge) != before
    nli = Learned(weights=str(folder(tmp_path / "two", "nli")))
    assert "entailment.test" in signature(nli)


def test_rows_that_need_no_model_are_judged_without_one(tmp_path: Path) -> None:
    judge = Learned(weights=str(folder(tmp_path / "one")))
    outcomes = apply(judge, table()[2:4])
    assert outcomes["status"].to_list() == ["judged", "skipped"]
    assert outcomes["verdict"].to_list() == [False, None]
    assert outcomes["explanation"][0] == "no answer was given"
    assert apply(judge, pl.DataFrame(schema=ANSWERS_SCHEMA)).height == 0


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ModelError, match=r"holds no learned\.json.*markscheme research train learned"
    ):
        Learned(weights=str(tmp_path)).judge(table(), None)
    with pytest.raises(JudgeError, match="threshold"):
        parse_judge("learned(weights='x', threshold=2)")
    place = folder(tmp_path / "one")
    (place / "verdict" / "adapter_model.safetensors").unlink()
    with pytest.raises(ModelError, match="holds no verdict/adapter_model"):
        signature(Learned(weights=str(place)))
    (tmp_path / "learned.json").write_text("{}")
    with pytest.raises(ModelError, match="another version"):
        signature(Learned(weights=str(tmp_path)))
    (tmp_path / "learned.json").write_text("{")
    with pytest.raises(ModelError, match="not valid JSON"):
        signature(Learned(weights=str(tmp_path)))

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"markscheme\[lora\]"):
        Learned(weights=str(folder(tmp_path / "two"))).judge(table(), None)
