"""Whether an answer lies in what the examiner learned, as the column `scope` tells."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.contract import HasLineage, parse_judge
from markscheme.judges.entailment import Entailment
from markscheme.judges.examiner import Examiner, readers_of
from markscheme.judges.examiner.readers import folder_of, measured, revisions
from markscheme.judges.examiner.weight_files import SHIPPED, open_weights
from markscheme.judges.listwise import ListwiseExaminer
from markscheme.models import Models
from markscheme.results import scope_notes
from markscheme.text import language_of
from trained_questions import trained_questions

FRENCH = {
    "question": "Qui a écrit le roman « Les Misérables » ?",
    "references": ["C'est Victor Hugo qui l'a écrit."],
    "answer": "Il a été écrit par Victor Hugo.",
}
RUSSIAN = {
    "question": "Кто написал роман «Идиот»?",
    "references": ["Фёдор Достоевский"],
    "answer": "Этот роман написал Лев Толстой.",
}
ENGLISH = {
    "question": "Who built the Zorvex bridge?",
    "references": ["Ada Quist"],
    "answer": "Ada Quist",
}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Who wrote Les Misérables? Victor Hugo", None),
        ("Who wrote 'Der Zauberberg'? Thomas Mann", None),
        ("Where is the Plaza de la Revolución?", None),
        ("Wer hat den Roman geschrieben, und wann?", "German"),
        ("谁写了《红楼梦》?", "Chinese or Japanese"),
        ("Кто написал «Войну и мир»?", "Cyrillic script"),
        ("من كتب هذه الرواية؟", "Arabic script"),
        ("42", None),
        ("Can I return a sale item? No, as a rule we do not take them back.", None),
        ("Can you do a DNA test? No, not as a company; no.", None),
        ("Quem escreveu o romance? O autor não é conhecido.", "Portuguese"),
    ],
)
def test_a_language_is_named_where_it_is_plainly_not_english(
    text: str, language: str | None
) -> None:
    assert language_of(text) == language


def test_what_lies_outside_is_told_with_its_reason() -> None:
    long = ENGLISH | {"answer": "Ada Quist built it. " * 100}
    judged = markscheme.judge([FRENCH, ENGLISH, long], "examiner(depth=fast)").judgments
    assert judged["scope"].to_list() == [
        "outside: the texts are in French", "inside", "outside: the answer has 400 words"
    ]  # fmt: skip
    assert set(judged["status"]) == {"judged"}


def test_what_lies_outside_can_be_left_not_judged() -> None:
    judged = markscheme.judge([FRENCH, ENGLISH], "examiner(outside=skip)").judgments
    first, second = judged.to_dicts()
    assert (first["status"], first["verdict"], first["score"]) == ("skipped", None, None)
    assert first["explanation"] == (
        "outside: the texts are in French (right in 30 of 34 test answers)"
    )
    assert (second["status"], second["verdict"]) == ("judged", True)


def test_questions_that_trained_it_are_told() -> None:
    [asked] = trained_questions(1)
    rows = [ENGLISH | {"question": one} for one in (asked, asked.upper() + " please", "qworl?")]
    judged = markscheme.judge(
        rows, ["examiner(depth=fast)", "panel(judges=[examiner(depth=fast), exact_match])"]
    ).judgments
    assert judged["scope"].to_list() == ["learned from", "learned from", "inside"] * 2


def test_weights_that_do_not_say_what_trained_them_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    shutil.copytree(SHIPPED, folder)
    (folder / "lineage.npy").unlink()
    judged = Examiner(weights=str(folder), depth="fast").judge(
        pl.DataFrame([ENGLISH]).with_columns(reference_kind=pl.lit("text")), Models()
    )
    assert judged["scope"].to_list() == ["unknown"]


def test_what_trained_the_judges_that_ship_is_known_and_small() -> None:
    """Files of the wheel, together under a megabyte."""
    judges = [Examiner(), ListwiseExaminer(), Entailment()]
    known = [one.lineage() for one in judges]
    assert all(one is not None and one.size > 1000 for one in known)
    files = list(Path(markscheme.__file__).parent.rglob("lineage.npy"))
    assert len(files) == 3
    assert sum(one.stat().st_size for one in files) < 1_000_000


def test_judges_that_ask_a_model_say_what_their_examples_were(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    shot = {"question": "Who wrote Emma?", "references": ["Austen"], "answer": "Jane", "label": 1}
    path.write_text(json.dumps(shot) + "\n")
    judge = parse_judge(f"llm_evouna_icl(examples='{path}')")
    assert isinstance(judge, HasLineage)
    lineage = judge.lineage()
    assert lineage is not None
    assert lineage.has(["who wrote 'Emma'", "Who wrote Walden?"]).tolist() == [True, False]
    assert Entailment(statements="chat", test="chat").lineage() is None


def test_texts_beyond_the_limit_fail_by_name() -> None:
    rows = [ENGLISH | {"answer": "word " * 5_000_000}, ENGLISH]
    answers = pl.DataFrame(rows).with_columns(reference_kind=pl.lit("text"))
    judged = Examiner(depth="fast").judge(answers, Models())
    assert judged["status"].to_list() == ["failed", "judged"]
    assert str(judged["explanation"][0]).startswith("too long: 25000037 characters")


def test_scope_is_null_where_a_judge_makes_no_statement() -> None:
    judged = markscheme.judge([ENGLISH], "exact_match").judgments
    assert judged.schema["scope"] == pl.String
    assert judged["scope"].to_list() == [None]


@pytest.fixture
def without_languages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package `markscheme-languages` is as good as not installed."""
    monkeypatch.setitem(sys.modules, "markscheme_languages", None)
    folder_of.cache_clear()
    yield
    folder_of.cache_clear()


def _readers() -> list[str]:
    return readers_of([tuple(row.values()) for row in (ENGLISH, FRENCH, RUSSIAN)]).tolist()  # type: ignore[misc]


def test_other_languages_have_an_encoder_of_their_own() -> None:
    assert _readers() == ["english", "languages", "languages"]
    run = markscheme.judge([FRENCH, RUSSIAN], "examiner(depth=full)")
    assert run.judgments["verdict"].to_list() == [True, False]
    note = scope_notes(run.run.judgments, run.run.records)[0]
    assert note.endswith("its verdicts there are less reliable")


CHINESE = {
    "question": "《红楼梦》的作者是谁?",
    "references": ["曹雪芹"],
    "answer": "曹雪芹",
}
SWEDISH = {
    "question": "Vem skrev romanen och när kom den ut?",
    "references": ["Den skrevs av Selma Lagerlöf och kom ut 1891."],
    "answer": "Selma Lagerlöf, 1891",
}


def _scopes(*rows: Mapping[str, object], judge: str = "examiner") -> list[str]:
    return markscheme.judge([dict(row) for row in rows], judge).judgments["scope"].to_list()


def test_of_a_language_that_was_measured_the_accuracy_is_in_the_reason() -> None:
    named = ["French", "Cyrillic script", "Chinese or Japanese"]
    counts_of = [
        "30 of 34 test answers",
        "31 of 38 test answers in Russian",
        "26 of 34 test answers in Chinese, 25 of 38 in Japanese",
    ]
    rows = (FRENCH, RUSSIAN, CHINESE)
    assert _scopes(*rows) == [
        f"outside: the texts are in {one} (right in {counts})"
        for one, counts in zip(named, counts_of, strict=True)
    ]
    # By the trees alone it is another, which is not measured by language.
    assert _scopes(*rows, judge="examiner(depth=fast)") == [
        f"outside: the texts are in {one}" for one in named
    ]


def test_a_language_that_was_not_measured_is_named_alone() -> None:
    assert language_of(str(SWEDISH["question"])) == "Swedish"
    assert _scopes(SWEDISH) == ["outside: the texts are in Swedish"]


def test_a_language_is_inside_where_it_was_reliable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the lower end of the interval is at least 80%, of every language of a script."""
    counts = {
        "French": {"French": (380, 400)},
        "Cyrillic script": {"Russian": (380, 400), "Ukrainian": (31, 38)},
    }
    monkeypatch.setattr("markscheme.judges.examiner.examiner.measured", lambda: counts)
    french, russian = _scopes(FRENCH, RUSSIAN)
    assert french == "inside"
    assert russian.endswith("(right in 380 of 400 test answers in Russian, 31 of 38 in Ukrainian)")


def test_a_package_of_languages_without_measurements_names_the_language_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "markscheme.judges.examiner.readers.folder_of", lambda reader: tmp_path / reader / "weights"
    )
    assert measured() == {}


def test_what_was_measured_is_of_the_weights_that_ship() -> None:
    """After a training: `python -m recipes.card --contrast-test --judge examiner`, a look."""
    languages = folder_of("languages")
    assert languages is not None
    content = json.loads((languages.parent / "measured.json").read_bytes())
    assert content["encoder"] == revisions()["languages"]
    assert content["trees"] == open_weights().revision
    rows = [rows for one in content["right_of"].values() for _, rows in one.values()]
    assert (len(rows), sum(rows)) == (14, 500)


@pytest.mark.usefixtures("without_languages")
def test_without_their_package_its_install_line_is_named() -> None:
    assert _readers() == ["english", "english", ""]
    assert _scopes(FRENCH) == ["outside: the texts are in French"]
    run = markscheme.judge([FRENCH, RUSSIAN], "examiner(depth=fast)")
    note = scope_notes(run.run.judgments, run.run.records)[0]
    assert note.endswith("pip install ./packages/languages (in a checkout) has an encoder for them")
