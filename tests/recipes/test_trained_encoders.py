"""The cross-encoders with a token head: rows, edits, compact weights, and the trained files."""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from recipes.encoder import edits, rows
from recipes.encoder.figures import (
    ENGLISH,
    LANGUAGES,
    by_column,
    facts_of_tests,
    figures,
    report,
    scored,
    table,
    test_rows,
    wrap,
    wrapped_rows,
)
from recipes.encoder.measures import auroc, wilson
from recipes.encoder.reduce import as_json, reduce_results
from recipes.encoder.texts import encoder_texts
from recipes.encoder.weights import (
    RUN,
    Tensors,
    dequantize_4_bits,
    open_archives,
    pack,
    pack_trained,
    quantize,
    save,
    unpack,
)

from recipes import examiner, lineage

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "recipes" / "encoder"
TRAINED = FOLDER / "trained"
test_rows.__test__ = False  # type: ignore[attr-defined]  # its name is that of a test


def row(**values: object) -> rows.Row:
    return {
        "set": "contrast", "kind": "short_name", "language": "en", "part": "train",
        "source_part": "train", "question": "Who wrote Emma?", "references": ["Jane Austen"],
        "answer": "Jane Austen", "label": 1.0, "weight": 1.0, "spans": None,
    } | values  # fmt: skip


# --- edits


def test_every_wrapping_has_its_answer_once_and_can_be_filled() -> None:
    wrappings = edits.Wrapper().wrappings
    assert len(wrappings) == 48
    assert len({wrapping["name"] for wrapping in wrappings}) == 48
    for wrapping in wrappings:
        assert wrapping["place"] in ("inner", "middle", "outer")
        for text in wrapping["texts"]:
            assert text.count("{answer}") == 1, text
            made = edits.Wrapper.fill(
                wrapping | {"texts": [text]}, "Q {curly}?", "answer X", random.Random(0)
            )
            assert made.count("answer X") == 1, text


def test_a_wrapped_answer_is_one_of_its_language() -> None:
    wrapper, chance = edits.Wrapper(), random.Random(0)
    for _ in range(200):
        text = wrapper.wrap("Wer schrieb Emma?", "Jane Austen", "de", chance)
        assert "Jane Austen" in text
        assert "The answer is" not in text


def test_a_replaced_word_is_marked_where_it_is() -> None:
    text, spans = edits.replace_word("In 1815, not 18150 or 1815.5: 1815.", "1815", "1816")
    assert text == "In 1816, not 18150 or 1815.5: 1816."
    assert [text[start:end] for start, end in spans] == ["1816", "1816"]
    assert edits.word_spans("In 1815 and 1815", "1815") == [(3, 7), (12, 16)]


def test_candidates_are_in_answer_and_references() -> None:
    chance = random.Random(1)
    answer = "It opened in May 1912, as Miller had asked for 40 copper pipes before noon."
    references = ["By Miller, in May 1912, with 40 copper pipes before noon."]
    candidates = edits.candidates(answer, references, ["Okafor"], chance)
    assert {kind for kind, _, _ in candidates} == {"number", "name", "word", "opposite"}
    for _kind, word, other in candidates:
        assert edits.has_word(answer, word)
        assert edits.has_word(references[0], word)
        assert other != word
        assert not edits.has_word(answer, other)
    assert not edits.candidates("Nothing alike", ["Other words"], ["Okafor"], chance)


def test_few_differing_words_are_found_and_many_are_not() -> None:
    right, wrong = "The lake is 40 metres deep.", "The lake is 60 metres deep."
    (span,) = edits.differing(right, wrong) or []
    assert wrong[slice(*span)] == "60"
    assert edits.differing(right, "Nobody has ever measured it, as far as one knows.") is None
    assert edits.differing(right, right) is None


def test_junk_is_nothing_that_answers() -> None:
    chance = random.Random(2)
    question, references = "How deep is the lake at its dam?", ["40 metres below the crest"]
    answer = "Sure, let me help. The dam holds a lake. It is 40 metres below the crest there."
    for kind in ("lead", "empty", "lone word", "question repeated"):
        text = edits.junk(kind, question, references, answer, chance)
        assert text is not None
        assert not edits.content_words(text) & {"40", "metres", "crest"}
    assert edits.junk("empty", question, ["Nothing is known"], answer, chance) is None
    assert edits.surely_other(references, "In the spring of that year")
    assert not edits.surely_other(references, "40 metres")


# --- rows


def test_pairs_that_share_a_sentence_are_in_one_group() -> None:
    pairs = [
        {"id": "a", "answer": "A man sleeps.", "references": ["A person sleeps."]},
        {"id": "b", "answer": "a person sleeps", "references": ["Someone rests."]},
        {"id": "c", "answer": "A dog runs.", "references": ["An animal runs."]},
    ]
    groups = rows.pair_groups("cad_nli", pairs)
    assert groups[0] == groups[1] != groups[2]
    assert rows.pair_groups("cad_nli", pairs[::-1]) == groups[::-1]
    numbers = [{"id": "de-17"}, {"id": "17"}, {"id": "zh-18"}]
    assert rows.pair_groups("paws_x", numbers) == ["paws 17", "paws 17", "paws 18"]
    parts = [rows.pair_part(f"cad_nli {number}") for number in range(2000)]
    assert {name: round(parts.count(name) / 2000, 1) for name in set(parts)} == {
        "train": 0.8, "dev": 0.1, "held": 0.1,
    }  # fmt: skip


def test_who_reads_a_row() -> None:
    assert rows.readers("contrast", "en") == "english"
    assert rows.readers("contrast", "de") == "latin"
    assert rows.readers("contrast", "zh") == "other"
    assert rows.readers("paws_x", "de") == "other"


def test_injected_rows_have_the_label_of_their_form() -> None:
    text = (
        "The old mill by the river burned down in 1912 and was opened again {} years later, in {}."
    )
    source = [
        row(
            question=f"What happened to mill {number}?",
            references=[f"Burned down in 1912, opened again in {1920 + number}"],
            answer=text.format("some", 1920 + number),
        )
        for number in range(30)
    ]
    made = list(rows.injected(source, 200, "test"))
    assert {form.split(",")[0] for form in (one["kind"] for one in made)} == {
        "answer edited", "reference edited", "both edited",
    }  # fmt: skip
    for one in made:
        marked = [one["answer"][start:end] for start, end in one["spans"]]
        if one["kind"].startswith("both"):
            assert (one["label"], marked) == (1.0, [])
        else:
            assert one["label"] == 0
            assert marked
            assert not set(marked) & set(one["references"][0].replace(",", "").split())
    assert made == list(rows.injected(source, 200, "test"))


def test_wrong_words_are_known_where_a_right_answer_is_near() -> None:
    group = [
        row(question="When?", references=["1815"], answer="It appeared in 1815."),
        row(question="When?", references=["1815"], answer="It appeared in 1816.", label=0.0),
        row(question="When?", references=["1815"], answer="Nobody could say so.", label=0.0),
    ]
    assert rows.mark_minimal_pairs(group) == 1
    assert [one["spans"] for one in group] == [[], [(15, 19)], None]


def test_wrapped_and_junk_rows_keep_to_their_labels() -> None:
    source = [row(label=float(number % 2), answer=f"Name {number}") for number in range(20)]
    made = list(rows.wrapped(source, 20, "test"))
    assert sum(one["label"] for one in made) == len(made) / 2
    for one in made:
        name = re.search("Name ([0-9]+)", one["answer"])
        assert name is not None
        assert int(name[1]) % 2 == one["label"]
    assert all(one["label"] == 0 for one in rows.junk(source, 60, "test"))
    assert not rows.is_plain_fact(row(kind="long_table"))


def test_rows_of_tests_are_refused() -> None:
    rows.check([row()], {"another question"})
    with pytest.raises(AssertionError):
        rows.check([row()], {rows.key("Who wrote: Emma?")})
    with pytest.raises(AssertionError):
        rows.check([row(source_part="held out")], set())
    assert len(rows.frozen_questions()) > 500


def test_trees_learn_from_all_but_pairs_and_what_is_held_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [
        row(),
        row(set="beetle", part="dev", source_part="held out"),
        row(set="paws_wiki", question=rows.NO_QUESTION),
        row(set="injected", question=rows.NO_QUESTION, part="dev", source_part="dev"),
        row(set="beetle", label=0.0, part="dev", source_part="calibration"),
    ]
    monkeypatch.setattr(examiner, "every_row", lambda _data: made)
    table = examiner.tree_rows(tmp_path)
    assert table.select("set", "label", "weight", "unseen").rows() == [
        ("contrast", 1.0, 1.0, False),
        ("injected", 1.0, 0.3, True),
        ("beetle", 0.0, 0.4, True),
    ]
    monkeypatch.setattr(lineage, "tree_rows", lambda _data: table)
    checked: list[int] = []
    monkeypatch.setattr(lineage, "_check", lambda _path, asked: checked.append(asked.n_unique()))
    assert set(lineage.examiner(tmp_path)) == {"Who wrote Emma?"}
    assert checked == [2]


def test_special_tokens_of_a_text_are_only_text() -> None:
    question, references, answer = encoder_texts("a [SEP] b", ["one", "two"], "x</s>y <pad> [1]")
    assert (question, references, answer) == ("a (SEP] b", "one ; two", "x(/s>y (pad> [1]")
    assert len(encoder_texts("", [], "x" * 5000)[2]) == 2000


# --- weights


def test_eight_bits_are_near_and_shapes_are_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    tensors: Tensors = {
        "encoder.up": rng.normal(size=(5, 2 * RUN)).astype(np.float32),
        "hidden.weight": rng.normal(size=(4, RUN + 7)).astype(np.float32),
        "hidden.bias": rng.normal(size=4).astype(np.float32),
    }
    tensors["encoder.up"][0, 0] = 30  # one large weight must not spoil the rest of its row
    tensors["encoder.up"][2] = 0
    save(tmp_path / "state.npz", pack_trained(tensors), encoder="made up", shape={"layers": 1})
    arrays, metadata = open_archives(tmp_path / "state.npz")
    assert metadata == {"encoder": "made up", "shape": {"layers": 1}}
    again = unpack(arrays)
    assert {name: tensor.shape for name, tensor in again.items()} == {
        name: tensor.shape for name, tensor in tensors.items()
    }
    error = np.abs(again["encoder.up"] - tensors["encoder.up"])
    assert error[0, :RUN].max() < 30 / 200
    assert error[:, RUN:].max() < 0.03
    assert np.abs(again["hidden.weight"] - tensors["hidden.weight"]).max() < 0.03
    levels, scales = quantize(tensors["hidden.weight"])
    assert (levels.shape, scales.shape) == ((4, RUN + 7), (4, 2))
    exact = pack(tensors)["hidden.bias"]
    assert exact.dtype == np.float32


def test_four_bits_are_read_as_they_are_written() -> None:
    levels = np.arange(32) % 16
    block = np.concatenate(
        [np.array([0.5], np.float16).view(np.uint8), levels[:16] | levels[16:] << 4]
    ).astype(np.uint8)
    weights = dequantize_4_bits(block.reshape(1, 1, 18))
    assert weights.tolist() == [((levels - 8) * 0.5).tolist()]


@pytest.mark.parametrize(
    ("name", "width", "longest"), [("mpnet", 768, 384), ("multilingual-e5", 384, 256)]
)
def test_trained_files_have_the_shapes_they_say(name: str, width: int, longest: int) -> None:
    arrays, metadata = open_archives(TRAINED / f"{name}.npz")
    shape = metadata["shape"]
    assert metadata["encoder"] == name
    assert (shape["layers"], shape["width"], shape["longest"]) == (12, width, longest)
    state = unpack(arrays)
    inner = 4 * width
    sizes = {"q": (width, width), "inner": (inner, width), "outer": (width, inner)}
    for layer in range(shape["layers"]):
        for linear, (outputs, inputs) in sizes.items():
            up = state[f"encoder.blocks.{layer}.{linear}.up"]
            down = state[f"encoder.blocks.{layer}.{linear}.down"]
            assert up.shape == (outputs, shape["rank"])
            assert down.shape == (shape["rank"], inputs)
    heads = {tensor for tensor in state if not tensor.startswith("encoder.")}
    assert heads == {
        f"{head}.{end}"
        for head in ("compare", "marking", "mark", "hidden", "classifier")
        for end in ("weight", "bias")
    }
    assert len(state) == 12 * 6 * 2 + 10
    assert all(np.isfinite(tensor.astype(np.float32)).all() for tensor in state.values())
    assert sum(path.stat().st_size for path in TRAINED.iterdir()) < 20e6


# --- figures


def test_figures_are_those_of_scikit_learn() -> None:
    from scipy.stats import binomtest
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 300).astype(float)
    scores = np.round(labels + rng.normal(size=300), 1) - 0.5
    assert auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))
    assert np.isnan(auroc(scores, np.ones(300)))
    exact = binomtest(41, 300).proportion_ci(method="wilson")
    assert wilson(41, 300) == pytest.approx((exact.low, exact.high))
    result = figures(labels, scores)
    assert result["accuracy"] == pytest.approx(((scores >= 0) == (labels > 0)).mean(), abs=1e-4)


def test_wrapped_rows_are_half_right_and_hold_their_answer() -> None:
    chosen = wrapped_rows(facts_of_tests(), most=100)
    assert sum(one["label"] for one in chosen) == 50
    assert all(one["bare"] in one["answer"] for one in chosen)
    assert chosen == wrapped_rows(facts_of_tests(), most=100)
    assert wrap("{question} {answer} {x}", "{answer}", "{question}") == "{answer} {question} {x}"


def test_scores_are_kept_and_those_of_other_rows_refused(tmp_path: Path) -> None:
    calls: list[int] = []

    def score(texts: list[tuple[str, list[str], str]]) -> list[float]:
        calls.append(len(texts))
        return [float(len(answer)) for _, _, answer in texts]

    some = [row(answer="x" * number) for number in range(250)]
    first = scored(tmp_path / "set.npz", some, score)
    assert first.tolist() == list(range(250))
    assert scored(tmp_path / "set.npz", some, score).tolist() == first.tolist()
    assert calls == [200, 50]
    with pytest.raises(ValueError, match="other rows"):
        scored(tmp_path / "set.npz", some[1:], score)


def test_of_the_first_test_there_are_only_totals() -> None:
    sets = {name: test_rows(name) for name in (*ENGLISH, LANGUAGES)}
    sets["wrapped"] = wrapped_rows(facts_of_tests(), most=100)
    scores = {
        name: np.array([2.0 * one["label"] - 1 for one in chosen]) for name, chosen in sets.items()
    }
    results = report(sets, scores)
    assert "by_kind" not in results["contrast-test"]
    assert len(results["contrast-test-second"]["by_kind"]) == 35
    assert len(results[LANGUAGES]["by_language"]) == 14
    assert results["wrapped"]["verdicts_changed"] == 0
    assert by_column(sets[LANGUAGES], "language", scores[LANGUAGES])["de"]["accuracy"] == 1
    lines = table(results).splitlines()
    assert lines[2].startswith(
        "| **contrast-test** | 1,222 | 100.0 | 99.7-100.0 | 0.0 | 0.0 | 1.000"
    )


def test_figures_are_written_as_the_page_has_them() -> None:
    results = json.loads((FOLDER / "figures.json").read_text("utf-8"))
    page = (FOLDER / "README.md").read_text("utf-8")
    assert "by_kind" not in results["contrast-test"]
    for result in [*results.values(), results["wrapped"]["without_wrapping"]]:
        low, high = result["interval"]
        share, wrong, right = (
            f"{100 * result[column]:.1f}"
            for column in ("accuracy", "wrong_accepted", "right_rejected")
        )
        interval = f"{100 * low:.1f}-{100 * high:.1f}"
        line = f"| {result['rows']:,} | {share} ({interval}) | {wrong} / {right} |"
        assert line in page


def test_results_are_those_of_the_states_that_were_saved() -> None:
    for number in (1, 2):
        results = json.loads((FOLDER / f"results-{number}.json").read_text("utf-8"))
        for stage in results["stages"].values():
            best = max(stage["evaluations"], key=lambda evaluation: evaluation["mean"])
            assert best["after"] == stage["saved"]
            assert stage["figures"]["contrast"][0] > 2700
    whole = {"a": {"plan": {}, "eight_bits": 0.5, "history": [
        {"when": "end", "how": "weights", "steps": 1, "seconds": 2.0, "figure": 0.5, "hit": 0.25,
         "sets": {"contrast": {"rows": 40, "auroc": float("nan"), "accuracy": 0.5,
                               "wrong_accepted": None, "right_rejected": 0.12345}}}]}}  # fmt: skip
    again = json.loads(as_json(reduce_results(whole)))
    assert again["stages"]["a"]["figures"] == {"contrast": [40, None, 0.5, None, 0.123]}


# --- the network, which needs PyTorch


@pytest.mark.proof(area="examiner")
def test_the_encoder_is_the_one_of_transformers(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from recipes.encoder.network import Encoder, Shape
    from recipes.encoder.weights import mpnet_tensors

    torch.manual_seed(0)
    config = transformers.MPNetConfig(
        hidden_size=48, intermediate_size=96, num_attention_heads=4, num_hidden_layers=12,
        vocab_size=200, max_position_embeddings=320, layer_norm_eps=1e-5, pad_token_id=1,
    )  # fmt: skip
    model = transformers.MPNetModel(config).eval()
    for parameter in model.parameters():  # fresh ones are too small to show a difference
        parameter.data.add_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(tmp_path)
    shape = Shape(
        layers=12, width=48, heads=4, epsilon=1e-5, pad=1, cls=0, sep=2, rank=1, longest=300
    )
    tensors = {name: torch.from_numpy(array) for name, array in mpnet_tensors(tmp_path).items()}
    encoder = Encoder(tensors, shape, torch.float32).eval()
    ids = torch.randint(3, 200, (2, 290))
    ids[1, 200:] = 1
    valid = ids != 1
    with torch.no_grad():
        expected = model(input_ids=ids, attention_mask=valid.long()).last_hidden_state
        assert (encoder(ids) - expected)[valid].abs().max() < 1e-4


def made_encoder() -> tuple[Tensors, dict[str, object]]:
    """Random tensors of a small encoder, and its shape."""
    rng = np.random.default_rng(0)
    width, words, longest = 64, 90, 40
    tensors: Tensors = {
        "words": rng.normal(size=(words, width)), "places": rng.normal(size=(longest, width)) * 0.1,
        "relative": rng.normal(size=(32, 4)) * 0.1,
    }  # fmt: skip
    for name in (
        "embedding_norm",
        *(f"layer.{n}.{o}_norm" for n in (0, 1) for o in ("attention", "output")),
    ):
        tensors |= {f"{name}.weight": np.ones(width), f"{name}.bias": np.zeros(width)}
    for layer in (0, 1):
        for name in ("q", "k", "v", "o", "inner", "outer"):
            rows_, columns = {"inner": (128, width), "outer": (width, 128)}.get(
                name, (width, width)
            )
            tensors[f"layer.{layer}.{name}.weight"] = rng.normal(size=(rows_, columns)) / 8
            tensors[f"layer.{layer}.{name}.bias"] = np.zeros(rows_)
    shape: dict[str, object] = {
        "layers": 2, "width": width, "heads": 4, "epsilon": 1e-5, "pad": 1, "cls": 0, "sep": 2,
        "rank": 4, "longest": longest,
    }  # fmt: skip
    return {name: array.astype(np.float32) for name, array in tensors.items()}, shape


@pytest.mark.proof(area="examiner")
def test_merged_adapters_say_the_same_and_other_states_are_refused() -> None:
    torch = pytest.importorskip("torch")
    from recipes.encoder.load import marked_words, merged
    from recipes.encoder.network import Shape, build, load_trained, trained_state

    tensors, shape = made_encoder()
    network = build(tensors, Shape(**shape), torch.float32, "cpu").eval()
    for parameter in network.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.05)
    ids = torch.tensor([[0, 5, 2, 6, 7, 2, 8, 9, 2, 1, 1], [0, 5, 2, 6, 2, 7, 8, 9, 10, 11, 2]])
    references, answer = network.parts(ids)
    assert ids[0][references[0]].tolist() == [6, 7]
    assert ids[1][answer[1]].tolist() == [7, 8, 9, 10, 11]
    state = {name: tensor.numpy().copy() for name, tensor in trained_state(network).items()}
    with torch.no_grad():
        log_odds, marks = network(ids)
        alone, _ = network(ids[:1, :9])  # without its padding
        assert torch.allclose(alone, log_odds[:1], atol=1e-5)
        again, marks_again = merged(network)(ids)
    assert torch.allclose(log_odds, again, atol=1e-4)
    assert torch.allclose(marks[answer], marks_again[answer], atol=1e-4)
    fresh = build(tensors, Shape(**shape), torch.float32, "cpu")
    load_trained(fresh, state)
    with pytest.raises(ValueError, match=r"only: .*mark\.bias"):
        load_trained(fresh, {name: array for name, array in state.items() if name != "mark.bias"})
    assert marked_words("It is", [(0, 1), (1, 2), (3, 5)], [0.1, 0.7, 0.2]) == [
        ("It", 0.7),
        ("is", 0.2),
    ]


@pytest.mark.proof(area="examiner")
def test_a_run_trains_and_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from recipes.encoder import train

    rng = np.random.default_rng(0)
    count, texts = 160, 400
    tensors, shape = made_encoder()
    save(tmp_path / "mpnet-0.npz", pack(tensors), shape=shape)
    lengths = rng.integers(2, 9, texts)
    places = rng.integers(0, texts, (count, 3))
    part = np.repeat([0, 1], [110, 50])
    label = rng.integers(0, 2, count)
    wrong = np.flatnonzero(label == 0)
    arrays: Tensors = {
        "texts": places.astype(np.uint32),
        "pieces": rng.integers(3, 90, lengths.sum()).astype(np.uint16),
        "pieces_starts": np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32),
        "pieces_marks_rows": wrong.astype(np.uint32),
        "pieces_marks_places": np.zeros(len(wrong), np.uint16),
        "label": label.astype(np.int8), "weight": np.ones(count, np.float32),
        "set": np.zeros(count, np.uint8), "kind": np.zeros(count, np.uint16),
        "language": np.zeros(count, np.uint8), "part": part.astype(np.uint8),
        "readers": np.zeros(count, np.uint8), "held_out": np.zeros(count, np.uint8),
        "spans_known": np.ones(count, np.uint8), "id": np.arange(count).astype(np.uint64),
    }  # fmt: skip
    names = {"set": ["contrast"], "kind": ["made"], "language": ["en"]}
    save(tmp_path / "data.npz", arrays, names=names)
    out = tmp_path / "out"
    arguments = [
        "train",
        str(tmp_path),
        str(out),
        "--tokens",
        "256",
        "--small",
        "100",
        "--reserve",
        "238",
    ]
    chosen = ["--run", "2", "--stages", "mpnet"]
    monkeypatch.setattr(sys, "argv", [*arguments, *chosen, "--file-bytes", "400000"])
    train.main()
    results = json.loads((out / "results.json").read_text("utf-8"))
    history = results["mpnet"]["history"]
    assert [(one["when"], one["how"]) for one in history] == [
        (f"part {number}", "average") for number in (1, 2, 3)
    ]
    state, metadata = open_archives(*sorted(out.glob("mpnet-*.npz")))
    assert len(list(out.glob("mpnet-*.npz"))) > 1
    assert (metadata["encoder"], metadata["run"]) == ("mpnet", 2)
    assert state["encoder.blocks.1.q.up"].any()  # zero before training
    with np.load(out / "scores.npz") as scores:
        assert len(scores["mpnet_dev_logits"]) == len(scores["mpnet_dev_rows"]) > 0
