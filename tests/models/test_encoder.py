"""The shipped encoder: near the original, independent of company, light."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from markscheme.models.local import encoder, weights
from markscheme.models.local.encoder import token_encoder
from markscheme.models.local.weights import MINILM, equal_length_batches

REFERENCE = Path(__file__).parent / "minilm_reference.npy"
"""What torch computes for `SENTENCES` with the unquantised weights and 128 tokens."""
SENTENCES = [
    "who got the first nobel prize in physics",
    "Wilhelm Conrad Röntgen",
    "The first Nobel Prize in Physics was awarded to Wilhelm Röntgen in 1901.",
    "May 18, 2018",
    "when is the next deadpool movie being released May 18, 2018",
    "four",
    "",
    "東京は日本の首都です 🗼",
    "Hello, this is Bing. I could not find a definite answer to your question.",
    "The capital of Australia is Canberra, not Sydney. " * 40,
]


def some_texts(count: int) -> list[str]:
    rng = random.Random(7)
    words = ["who", "wrote", "1851", "Moby-Dick", "Herman", "émigré", "東京", "42", "naïve", "?"]
    return [" ".join(rng.choices(words, k=rng.randint(0, 40))) for _ in range(count)]


def test_vectors_are_near_those_of_the_original_torch_model() -> None:
    ours, theirs = token_encoder().encode(SENTENCES), np.load(REFERENCE)
    assert (ours * theirs).sum(1).min() > 0.999
    assert np.abs(ours @ ours.T - theirs @ theirs.T).max() < 0.01


def test_rows_are_float32_of_length_one_in_order_and_repeats_are_equal() -> None:
    texts = ["four", "", "4", "four"]
    vectors = token_encoder().encode(texts)
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (vectors[0] == vectors[3]).all()
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[1]


@pytest.mark.proof(area="models")
def test_a_text_has_the_same_vector_in_any_company(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = some_texts(300)
    together = token_encoder().encode(texts)
    order = list(range(len(texts)))
    random.Random(1).shuffle(order)
    monkeypatch.setattr(weights, "available_cores", lambda: 3)
    shuffled = token_encoder().encode([texts[i] for i in order])
    np.testing.assert_allclose(shuffled, together[order], atol=1e-6)
    alone = np.concatenate([token_encoder().encode([text]) for text in texts[:60]])
    np.testing.assert_allclose(alone, together[:60], atol=1e-6)
    np.testing.assert_array_equal(token_encoder().encode(texts), together)


def test_no_texts() -> None:
    assert token_encoder().encode([]).shape == (0, 384)


def test_a_megabyte_is_cut_and_costs_little() -> None:
    start = "the answer is Canberra " * 100
    long = start + "x" * 1_000_000
    vectors = token_encoder().encode([long, start, "y" * 1_000_000, " " * 1_000_000])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("text", ["\x00", "\ud7ff", "🗼" * 300, "e\u0301", "\u202eabc", "\ufffd"])
def test_odd_characters_have_vectors(text: str) -> None:
    assert np.linalg.norm(token_encoder().encode([text])[0]) == pytest.approx(1, abs=1e-6)


def test_threads_that_start_together_load_the_weights_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = []
    original = encoder.open_session
    monkeypatch.setattr(
        encoder, "open_session", lambda *taken: opened.append(taken) or original(*taken)
    )
    encoder._loaded.__wrapped__.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda _: token_encoder().encode(["together"]), range(8)))
    assert len(opened) == 1
    assert all((one == vectors[0]).all() for one in vectors)


def test_the_bytes_of_a_model_are_not_held_in_memory_twice() -> None:
    content = (MINILM / "model.onnx").read_bytes()
    references = sys.getrefcount(content)
    session = weights.open_session(Path("model.onnx"), content)
    assert session.get_inputs()
    assert sys.getrefcount(content) == references


def test_the_shipped_files_are_those_of_the_manifest_and_small() -> None:
    manifest = json.loads((MINILM / "manifest.json").read_text())
    for name, entry in manifest["files"].items():
        assert hashlib.sha256((MINILM / name).read_bytes()).hexdigest() == entry["sha256"]
    assert token_encoder().revision == manifest["files"]["model.onnx"]["sha256"][:12]
    assert sum(path.stat().st_size for path in MINILM.iterdir()) < 24_000_000


def test_batches_cover_every_row_once_and_hold_one_length() -> None:
    lengths = np.random.default_rng(0).integers(2, 130, size=1000)
    batches = list(equal_length_batches(lengths))
    assert sorted(np.concatenate(batches).tolist()) == list(range(1000))
    for batch in batches:
        assert len(set(lengths[batch])) == 1
        assert len(batch) * lengths[batch[0]] <= 1024


@pytest.mark.proof(area="models")
def test_a_fresh_process_needs_no_torch_and_little_memory() -> None:
    program = """
import sys
from markscheme.models.local.encoder import token_encoder
assert "onnxruntime" not in sys.modules
token_encoder().encode([f"text {i} " + "word " * (i % 100) for i in range(300)])
assert "torch" not in sys.modules and "transformers" not in sys.modules
with open("/proc/self/status") as status:  # getrusage would count the parent's peak as well
    peak = next(line for line in status if line.startswith("VmHWM"))
print(int(peak.split()[1]) / 1024)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 400
