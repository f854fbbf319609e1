"""Each quirk of the published data, by the numbers and words of the project's notes on them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

import made_data
from markscheme.errors import DataError, UnknownNameError
from markscheme.metrics.lexical import exact_match
from markscheme.text.normalisation import normalise_series
from markscheme_research.datasets import dataset, load, locate, openqa, passages, recorded
from markscheme_research.lists.list_material import open_material

# --- EVOUNA -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evouna(data_dir: Path) -> pl.DataFrame:
    return load("evouna-nq", data_dir=data_dir)


def test_evouna_leaves_improper_questions_and_the_unlabelled_answer_out(
    evouna: pl.DataFrame, data_dir: Path
) -> None:
    assert evouna.height == 15_099
    # Two questions of the file are the same text.
    assert evouna["answer_id"].str.extract(r"/(\d+)/").n_unique() == 3020
    every = load("evouna-nq", data_dir=data_dir, labelled_only=False)
    missing = every.join(evouna, on="answer_id", how="anti")
    assert missing["system"].to_list() == ["BingChat"]
    assert load("evouna-nq", data_dir=data_dir, include_improper=True).height == 15_099 + 335


def test_evouna_human_accuracy_of_each_system(evouna: pl.DataFrame) -> None:
    means = evouna.group_by("system", maintain_order=True).agg(pl.col("label").mean() * 100)
    assert {name: round(mean, 1) for name, mean in means.iter_rows()} == {
        "DPR+FiD": 68.9,
        "InstructGPT": 65.5,
        "ChatGPT": 73.0,
        "GPT-4": 78.8,
        "BingChat": 79.9,
    }


def test_evouna_references_are_split_at_slashes(evouna: pl.DataFrame) -> None:
    texts = evouna["references"].explode()
    assert not texts.str.contains("/", literal=True).any()
    assert (texts.str.strip_chars() == texts).all()
    assert (texts.str.len_chars() > 0).all()
    assert evouna["references"].list.len().max() > 1


def test_evouna_tq_spells_missing_things_as_text(tmp_path: Path) -> None:
    systems = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
    proper = {f"answer_{key}": "None" for key in systems} | {
        f"judge_{key}": True for key in systems
    }
    improper = {f"answer_{key}": "None" for key in systems} | dict.fromkeys(
        (f"judge_{key}" for key in systems), "nan"
    )
    rows = [
        {"question": "q1", "golden_answer": "a/b c/ ", **proper, "improper": False},
        {"question": "q2", "golden_answer": "$85,000/85000", **improper, "improper": True},
    ]
    path = tmp_path / "TQ.json"
    path.write_text(json.dumps(rows))
    answers = load("evouna-tq", data_dir=path, include_improper=True, labelled_only=False)
    assert answers["references"].to_list() == [["a", "b c"]] * 5 + [["$85,000", "85000"]] * 5
    # "None" is an answer where somebody judged it, and no answer where nobody did.
    assert answers["answer"].to_list() == ["None"] * 5 + [None] * 5
    assert answers["label"].to_list() == [1.0] * 5 + [None] * 5
    assert load("evouna-tq", data_dir=path).height == 5


# --- NQ301 ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def predictions(data_dir: Path) -> pl.DataFrame:
    return load("nq301", data_dir=data_dir)


@pytest.fixture(scope="module")
def pairs(data_dir: Path) -> pl.DataFrame:
    return load("nq301", data_dir=data_dir, rows="pairs")


def test_1_files_join_on_the_question_and_ids_are_the_questions(
    predictions: pl.DataFrame, pairs: pl.DataFrame
) -> None:
    per_system = predictions.group_by("system").agg(pl.col("question").n_unique())
    assert per_system["question"].to_list() == [301] * 12
    assert set(predictions["question"]) == set(pairs["question"])
    numbers = predictions.with_columns(
        pl.col("answer_id").str.extract(r"^nq301/(\d+)/").cast(pl.Int64).alias("number")
    )
    assert numbers.group_by("question").agg(pl.col("number").n_unique())["number"].max() == 1
    assert numbers["number"].min() == 1
    assert numbers["number"].max() == 301
    assert pairs["answer_id"][-1] == "nq301/pair/1490"


def test_2_a_prediction_that_is_a_list_is_its_first_element(
    predictions: pl.DataFrame, data_dir: Path
) -> None:
    stem = "NQ301_text-davinci-003_fewshot-n64"
    path = data_dir / "openqa-eval" / "model_outputs" / f"{stem}.jsonl"
    raw = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lists = {
        row["question"]: row["prediction"][0].strip()
        for row in raw
        if isinstance(row["prediction"], list)
    }
    assert len(lists) == 16
    loaded = predictions.filter(pl.col("system") == "InstructGPT (few-shot)")
    said = dict(loaded.select("question", "answer").iter_rows())
    assert {question: said[question] for question in lists} == lists
    assert (predictions["answer"].str.strip_chars() == predictions["answer"]).all()


def test_3_each_system_keeps_its_own_files_references(
    predictions: pl.DataFrame, data_dir: Path
) -> None:
    def differing(answers: pl.DataFrame) -> int:
        ours = answers.filter(pl.col("system") == "EviGen").select("question", "references")
        common = answers.filter(pl.col("system") == "FiD").select("question", "references")
        both = ours.join(common, on="question")
        return both.filter(pl.col("references") != pl.col("references_right")).height

    assert differing(predictions) == 7
    assert differing(load("nq-open-predictions", data_dir=data_dir)) == 95


def test_3_white_space_of_every_kind_survives(predictions: pl.DataFrame) -> None:
    assert predictions["references"].explode().str.contains("\u00a0").any()


def test_4_unjudged_predictions_have_no_label(predictions: pl.DataFrame) -> None:
    unjudged = predictions.filter(pl.col("label").is_null())
    counts = dict(unjudged["system"].value_counts().iter_rows())
    assert counts == {"EMDR2": 27, "DPR": 10}


def test_6_bem_accepts_above_one_half_as_its_own_column_says(
    pairs: pl.DataFrame, data_dir: Path
) -> None:
    bem = recorded("nq301", "bem", data_dir=data_dir)
    local = locate(dataset("nq301"), data_dir)
    released = [row[4] == "Yes" for row in openqa.read_bem(local, openqa.read_pairs(local))]
    assert bem["verdict"].to_list() == released
    assert bem["answer_id"].to_list() == pairs["answer_id"].to_list()
    assert ((bem["score"] > 0.5) == bem["verdict"]).all()
    assert (bem["verdict"] != (pairs["label"] == 1)).sum() == round((1 - 0.806) * 1490)


def test_7_replies_of_davinci_begin_with_yes_or_no(pairs: pl.DataFrame, data_dir: Path) -> None:
    davinci = recorded("nq301", "text-davinci-003", data_dir=data_dir)
    assert set(davinci["status"]) == {"judged"}
    local = locate(dataset("nq301"), data_dir)
    rows = openqa.read_aligned(
        local, "NQ301_text-davinci-003.tsv", openqa.read_pairs(local), quoted=False
    )
    assert davinci["verdict"].to_list() == [row[3] == "Yes" for row in rows]
    agree = (davinci["verdict"] == (pairs["label"] == 1)).mean()
    assert agree == pytest.approx(0.838, abs=5e-4)


def test_9_seven_cells_of_annotator_2_are_blank(pairs: pl.DataFrame) -> None:
    blanks = [pairs["annotator_labels"].list.get(place).null_count() for place in range(3)]
    assert blanks == [0, 7, 1490 - 223]


def test_oddities_quoted_answers_tokenised_questions_twins_and_numbers(
    predictions: pl.DataFrame, pairs: pl.DataFrame, data_dir: Path
) -> None:
    assert pairs["answer"].str.starts_with('"').sum() == 7
    quoted = pairs.filter(pl.col("answer").str.starts_with('"'))
    said = predictions.select("question", "answer").unique()
    assert quoted.join(said, on=["question", "answer"], how="semi").height == 7
    assert pairs.row(1115)[1:] == pairs.row(1117)[1:]
    coerced = predictions.filter(pl.col("answer").is_in(["07", "01", "077", "60.0"]))
    assert coerced.height > 0
    assert coerced["label"].null_count() == 0


def test_recorded_judgments_of_predictions_skip_the_unjudged(data_dir: Path) -> None:
    bem = recorded("nq301", "bem", data_dir=data_dir, rows="predictions")
    assert dict(bem["status"].value_counts().iter_rows()) == {"judged": 3575, "skipped": 37}
    skipped = bem.filter(pl.col("status") == "skipped")
    assert skipped["verdict"].null_count() == skipped.height == skipped["score"].null_count()


def test_gpt4_replies_are_read_when_the_file_is_there(tmp_path: Path, data_dir: Path) -> None:
    with pytest.raises(DataError, match=r"NQ301_gpt-4.tsv is not in .* --file NQ301_gpt-4.tsv"):
        recorded("nq301", "gpt-4", data_dir=data_dir)
    folder = tmp_path / "openqa-eval"
    folder.mkdir()
    for path in (data_dir / "openqa-eval").iterdir():
        (folder / path.name).symlink_to(path)
    local = locate(dataset("nq301"), data_dir)
    known = openqa.read_pairs(local)
    replies = ['No\tNo, the candidate is "wrong".', "\tI cannot determine it.", "Yes\tNo, save."]
    lines = ["id\tQuestion\tModel answer\tAcceptable?\tgpt-4"] + [
        f"{row['number']}\t{row['question']}\t{row['answer']}\t{replies[row['row'] % 3]}"
        for row in known.iter_rows(named=True)
    ]
    (folder / "NQ301_gpt-4.tsv").write_text("\n".join(lines), "utf-8")
    gpt4 = recorded("nq301", "gpt-4", data_dir=tmp_path).head(3)
    assert gpt4["status"].to_list() == ["unparsed", "judged", "judged"]
    # The published verdict stands even where the reply begins otherwise.
    assert gpt4["verdict"].to_list() == [None, True, False]
    assert gpt4["raw"][1] == "No, save."
    (folder / "NQ301_gpt-4.tsv").write_text("\n".join([lines[0], *lines[:0:-1]]), "utf-8")
    with pytest.raises(DataError, match="are not in the order"):
        recorded("nq301", "gpt-4", data_dir=tmp_path)


def test_vicunas_replies_are_read_when_its_files_are_there(tmp_path: Path, data_dir: Path) -> None:
    with pytest.raises(DataError, match=r"NQ301_EMDR2_eval-vicuna\.tsv is not in"):
        recorded("nq301", "vicuna", data_dir=data_dir)
    folder = tmp_path / "openqa-eval"
    (folder / "model_outputs").mkdir(parents=True)
    for path in (data_dir / "openqa-eval").iterdir():
        if path.is_file():
            (folder / path.name).symlink_to(path)
    for path in (data_dir / "openqa-eval" / "model_outputs").iterdir():
        (folder / "model_outputs" / path.name).symlink_to(path)
    known = openqa.read_pairs(locate(dataset("nq301"), data_dir)).head(3)
    cells = [("1", '"Is it?\nExplanation: ""yes"". Answer: yes.\n\nQuestion: another"'), ("", "-"),
             ("0", "no.")]  # fmt: skip
    lines = ["id\tQuestion\tGold answers\tModel answer\tEM\tF1\tvicuna\tResponse"] + [
        f"\t{row['question']}\t['a']\t{row['answer'].lower()}\t1\t1.0\t{verdict}\t{reply}"
        for row, (verdict, reply) in zip(known.iter_rows(named=True), cells, strict=True)
    ]
    (folder / "model_outputs" / "NQ301_R2D2_eval-vicuna.tsv").write_text("\n".join(lines), "utf-8")
    vicuna = recorded("nq301", "vicuna", data_dir=tmp_path)
    assert vicuna["status"].to_list()[:3] == ["judged", "unparsed", "judged"]
    assert vicuna["status"].to_list()[-1] == "skipped"
    assert vicuna["verdict"].to_list()[:3] == [True, None, False]
    assert vicuna["raw"][0].startswith('Is it?\nExplanation: "yes".')


def test_unknown_recorded_judges_and_datasets_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'bem'"):
        recorded("nq301", "bme", data_dir=tmp_path)
    with pytest.raises(UnknownNameError, match="no dataset with recorded judgments"):
        recorded("webglm", "bem", data_dir=tmp_path)


# --- LINKAGE ----------------------------------------------------------------------------------


def test_linkage_order_does_not_leak_the_grade(antique_dev: Path) -> None:
    for name in ("antique", "trec-dl-nf"):
        for frame, column, leaks in (
            (passages(name, data_dir=antique_dev), "grade", True),
            (load(name, data_dir=antique_dev), "label", False),
        ):
            ranks = (
                frame.with_columns(pl.int_range(pl.len()).over("question").alias("place"))
                .group_by("question")
                .agg(pl.corr(-pl.col("place"), column, method="spearman").alias("r"))
                .filter(pl.col("r").is_not_nan())
            )
            mean = ranks["r"].mean()
            assert (mean > 0.75) if leaks else (abs(mean) < 0.1)


def test_linkage_references_leave_the_candidates(antique_dev: Path) -> None:
    for name, per_grade in (("antique", 2), ("trec-dl-nf", 1)):
        whole = passages(name, data_dir=antique_dev)
        answers = load(name, data_dir=antique_dev, seed=3)
        expected = (
            whole.group_by("question_number", "grade")
            .len()
            .select((pl.col("len").cast(pl.Int64) - per_grade).clip(0).sum())
            .item()
        )
        assert answers.height == expected
        grades = answers["reference_grades"]
        assert (grades.list.sort(descending=True) == grades).all()
        assert answers["references"].list.len().max() == 4 * per_grade
        ids = answers["answer_id"].str.extract(r"/([^/]+)$")
        assert set(ids) < set(whole["passage_id"])


def test_linkage_sampling_follows_the_seed(antique_dev: Path) -> None:
    first, again, other = (load("antique", data_dir=antique_dev, seed=s) for s in (0, 0, 1))
    assert first.equals(again)
    assert not first.equals(other)
    bare = load("trec-dl-nf", data_dir=antique_dev, references_per_grade=0)
    assert bare.height == 5541


def test_antique_keeps_the_files_grades_and_both_parts_load(
    tmp_path: Path, antique_dev: Path
) -> None:
    dev = passages("antique", data_dir=antique_dev)
    assert sorted(dev["grade"].unique()) == [1, 2, 3, 4]
    assert dev["question"].n_unique() == 257
    whole = tmp_path / "ANTIQUE.json"
    whole.write_text(
        json.dumps({"q": [{"doc_id": f"{n}_0", "passage": "p", "label": n} for n in (4, 3, 2, 1)]})
    )
    (tmp_path / "ANTIQUE-dev.json").symlink_to(antique_dev / "linkage" / "ANTIQUE-dev.json")
    assert passages("antique", data_dir=tmp_path)["question"].n_unique() == 1
    assert passages("antique", data_dir=tmp_path, part="dev")["question"].n_unique() == 257
    assert passages("antique", data_dir=whole)["question"].n_unique() == 1
    with pytest.raises(DataError, match=r"ANTIQUE\.json is not in"):
        passages("antique", data_dir=antique_dev, part="all")
    with pytest.raises(DataError, match="webglm has no graded passages; antique and trec-dl-nf"):
        passages("webglm", data_dir=antique_dev)


def test_the_published_file_of_antique_gives_both_halves(tmp_path: Path, antique_dev: Path) -> None:
    """Training and reproduction run on what is published: the half follows from the questions."""
    recorded_half = antique_dev / "linkage" / "ANTIQUE-dev.json"
    listed = json.loads(recorded_half.read_text("utf-8"))
    others = ("why is a mill wheel wet", "how do I calm a goose", "what is a good hedge")
    for place, (question, rows) in enumerate(list(listed.items())):
        if place % 50 == 0:
            for other in others:
                listed[f"{other} {place}"] = rows[:2]
        listed[question] = listed.pop(question)  # the halves are mixed, each in its own order
    whole = tmp_path / "linkage" / "ANTIQUE.json"
    whole.parent.mkdir()
    whole.write_text(json.dumps(listed), "utf-8")

    dev = passages("antique", data_dir=tmp_path, part="dev")
    unseen = passages("antique", data_dir=tmp_path, part="test")
    every = passages("antique", data_dir=tmp_path, part="all")
    assert every.height == dev.height + unseen.height
    assert unseen["question_number"].min() == 1
    assert set(unseen["question"]).isdisjoint(dev["question"])
    odd = dev.filter(pl.col("question").is_in([q for q in listed if q.startswith(others)]))
    real = dev.join(odd, on="question", how="anti", maintain_order="left")
    same = passages("antique", data_dir=antique_dev, part="dev")
    assert real.drop("question_number").equals(same.drop("question_number"))

    with pytest.raises(UnknownNameError, match="no part of ANTIQUE named 'tets'; did you mean"):
        passages("antique", data_dir=tmp_path, part="tets")
    with pytest.raises(DataError, match=r"holds part dev; part test is in ANTIQUE\.json"):
        passages("antique", data_dir=recorded_half, part="test")
    with pytest.raises(DataError, match="trec-dl-nf has no parts: test is one of ANTIQUE"):
        passages("trec-dl-nf", data_dir=antique_dev, part="test")
    with pytest.raises(DataError, match="webglm has no parts: --part dev"):
        open_material("webglm", data_dir=str(antique_dev), part="dev")


def test_the_half_of_antique_is_made_again_byte_for_byte(tmp_path: Path, antique_dev: Path) -> None:
    half = antique_dev / "linkage" / "ANTIQUE-dev.json"
    listed = json.loads(half.read_text("utf-8"))
    odd = {f"why is this {n}": [] for n in range(20)}
    whole = tmp_path / "ANTIQUE.json"
    whole.write_text(
        json.dumps({q: r for q, r in odd.items() if not made_data.is_even(q)} | listed)
    )
    made_data.write_antique_half(whole, tmp_path)
    assert (tmp_path / "ANTIQUE-dev.json").read_bytes() == half.read_bytes()


def test_trec_reads_both_spellings_of_the_passages_id(data_dir: Path) -> None:
    raw = json.loads((data_dir / "linkage" / "TREC-DL-NF.json").read_text("utf-8"))
    odd = [p["doc_id"] for ps in raw.values() for p in ps if "doc_id" in p]
    assert len(odd) == 55
    assert set(odd) <= set(passages("trec-dl-nf", data_dir=data_dir)["passage_id"])


def test_webglm_has_graded_references_best_first(data_dir: Path) -> None:
    answers = load("webglm", data_dir=data_dir)
    assert sorted(answers["system"].unique()) == ["gpt", "llama", "mistral"]
    shapes = answers["reference_grades"].list.eval(pl.element().cast(pl.String)).list.join("")
    assert dict(shapes.value_counts().iter_rows()) == {"3210": 87 * 3, "33210": 13 * 3}
    words = answers["references"].list.first().str.split(" ").list.len().mean()
    assert words == pytest.approx(100, abs=5)


# --- gold answers only ------------------------------------------------------------------------


def test_curatedtrec_patterns_are_kept_to_the_character(data_dir: Path) -> None:
    full = load("curatedtrec", data_dir=data_dir, split="full")
    patterns = full["references"].list.first()
    assert set(full["reference_kind"]) == {"regex"}
    for pattern in patterns:
        assert re.compile(pattern).search("") is None
    raw = [
        line.split("\t")[3]
        for line in (data_dir / "curatedtrec" / "curated-full.tsv").read_text("utf-8").split("\n")
        if line
    ]
    assert patterns.to_list() == raw
    assert sum(pattern != pattern.strip() for pattern in raw) == 1
    assert full["answer"].null_count() == full.height == full["system"].null_count()
    trec = load("curatedtrec", data_dir=data_dir)
    assert trec.height == 444
    assert (trec["question"].str.strip_chars() == trec["question"]).all()


def test_curatedtrec_splits_do_not_overlap(data_dir: Path) -> None:
    train, test, full = (
        load("curatedtrec", data_dir=data_dir, split=split) for split in ("train", "test", "full")
    )
    ids = [set(frame["answer_id"].str.extract(r"/([^/]+)$")) for frame in (train, test, full)]
    assert len(ids[0]) == len(ids[1]) == 430
    assert not ids[0] & ids[1]
    assert ids[0] | ids[1] <= ids[2]


def test_nq_open_and_triviaqa_read_their_usual_files(tmp_path: Path) -> None:
    efficient = tmp_path / "NQ-open.efficientqa.test.1.1.jsonl"
    efficient.write_text(
        json.dumps(
            {
                "question": "how many",
                "answer": ["6 geese", "six", "six"],
                "def_correct_predictions": ["half a dozen"],
            }
        )
        + "\n\n"
    )
    (tmp_path / "NQ-open.dev.jsonl").write_text('{"question": "who", "answer": ["a b"]}\n')
    dev = load("nq-open", data_dir=tmp_path)
    assert dev.select("answer_id", "question", "references").rows() == [
        ("nq-open/dev/1", "who", ["a b"])
    ]
    split = {"data_dir": tmp_path, "split": "efficientqa-test"}
    assert load("nq-open", **split)["references"].to_list() == [["6 geese", "six"]]
    with pytest.raises(DataError, match="accepted=true has no effect on split=dev"):
        load("nq-open", data_dir=tmp_path, accepted=True)
    more = load("nq-open", **split, accepted=True)["references"].to_list()
    assert more == [["6 geese", "six", "half a dozen"]]

    trivia = tmp_path / "anything.json"
    answer = {
        "Aliases": ["Sunset Blvd", "Sunset Bulevard"],
        "NormalizedAliases": ["sunset blvd", "sunset bulevard"],
        "Value": "Sunset Boulevard",
    }
    data = {"Data": [{"Question": "Which musical?", "QuestionId": "tc_1", "Answer": answer}]}
    trivia.write_text(json.dumps(data))
    assert load("triviaqa", data_dir=trivia)["references"].to_list() == [
        ["Sunset Boulevard", "Sunset Blvd", "Sunset Bulevard"]
    ]
    plain = load("triviaqa", data_dir=trivia, normalised=True)
    assert plain["references"].to_list() == [["sunset blvd", "sunset bulevard"]]


# --- across datasets --------------------------------------------------------------------------


def test_258_questions_of_nq301_are_also_in_evouna(
    evouna: pl.DataFrame, pairs: pl.DataFrame
) -> None:
    ours, theirs = (set(normalise_series(frame["question"].unique())) for frame in (pairs, evouna))
    assert len(ours & theirs) == 258


def test_row_level_agreement_with_people(pairs: pl.DataFrame, data_dir: Path) -> None:
    people = pairs["label"]
    em = exact_match(pairs["answer"], pairs["references"])
    verdicts = {
        name: recorded("nq301", name, data_dir=data_dir)["verdict"].cast(pl.Float64)
        for name in ("bem", "text-davinci-003")
    }
    figures = {
        name: (round((said == people).mean() * 100, 1), round(cohen_kappa_score(said, people), 3))
        for name, said in {"em": em, **verdicts}.items()
    }
    assert figures == {
        "em": (65.4, 0.343),
        "bem": (80.6, 0.616),
        "text-davinci-003": (83.8, 0.675),
    }
