"""`hf:` chat models: found by the entry point that the package declares."""

from __future__ import annotations

import sys
import tomllib
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from markscheme.contract import ChatRequest, Image, Message
from markscheme.models import ModelOptions, Models
from markscheme_research.transformers_models import HuggingFaceChat

PROJECT = Path(__file__).parents[2] / "packages" / "research" / "pyproject.toml"


@pytest.fixture
def chat_points(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chat models that the research package declares, whether or not it is installed anew."""
    points = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]["markscheme.chat_models"]
    folder = tmp_path_factory.mktemp("points")
    info = folder / "declared-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: declared\nVersion: 1.0\n")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[markscheme.chat_models]\n{lines}")
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.usefixtures("chat_points")
def test_the_research_package_opens_folders_of_weights(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "training.bin").write_bytes(b"of a trainer")
    ledger = str(tmp_path / "ledger.sqlite")
    models = Models(options=ModelOptions(model=f"hf:{tmp_path}", ledger=ledger))
    chat = models._source(None)
    assert isinstance(chat, HuggingFaceChat)
    assert (chat.name, chat.folder) == (f"hf:{tmp_path}", str(tmp_path))
    first = chat.revision
    (tmp_path / "training.bin").write_bytes(b"later")
    assert HuggingFaceChat(name=chat.name).revision == first
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    assert HuggingFaceChat(name=chat.name).revision != first
    assert HuggingFaceChat(name="hf:some/name").revision == ""


@pytest.mark.usefixtures("chat_points")
def test_weights_in_this_process_take_no_images(tmp_path: Path) -> None:
    image = Image(media_type="image/png", sha256="0" * 64, size=9, width=4, height=3)
    looking = ChatRequest(messages=(Message(role="user", content="Look.", images=(image,)),))
    ledger = str(tmp_path / "ledger.sqlite")
    models = Models(options=ModelOptions(model="hf:nowhere", ledger=ledger))
    (reply,) = models.chat().complete([looking])
    models.close()
    assert (reply.status, reply.error) == ("failed", "hf:nowhere: models here take no images")


class Row(list[int]):
    """Token ids as torch has them, of a batch of one."""

    @property
    def shape(self) -> tuple[int, int]:
        return 1, len(self)


class Inputs(dict[str, Row]):
    def to(self, _device: str) -> Inputs:
        return self


def stand_ins(monkeypatch: pytest.MonkeyPatch, loaded: dict[str, Any]) -> None:
    """torch and transformers that know one model: it repeats the prompt's number of tokens."""

    def tokenizer(text: str, **_options: str) -> Inputs:
        return Inputs(input_ids=Row(range(len(text.split()))))

    def generate(input_ids: Row, **options: Any) -> SimpleNamespace:
        loaded["generate"] = options
        return SimpleNamespace(sequences=[[*input_ids, len(input_ids), 2]])

    def from_pretrained(folder: str, **options: Any) -> Any:
        loaded.update(options, times=loaded.get("times", 0) + 1, folder=folder)
        return model

    model: Any = SimpleNamespace(
        device="cpu", generate=generate, generation_config=SimpleNamespace(eos_token_id=[2]),
        eval=lambda: model, to=lambda _device: model,
    )  # fmt: skip
    tokenizer.chat_template, tokenizer.pad_token_id = None, 1  # type: ignore[attr-defined]
    tokenizer.decode = lambda ids, **_: f"{ids[0]} words"  # type: ignore[attr-defined]
    torch = SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: False), manual_seed=lambda _seed: None,
        inference_mode=nullcontext,
    )  # fmt: skip
    transformers = SimpleNamespace(
        AutoTokenizer=SimpleNamespace(from_pretrained=lambda _folder: tokenizer),
        AutoModelForCausalLM=SimpleNamespace(from_pretrained=from_pretrained),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "transformers", transformers)


@pytest.mark.usefixtures("chat_points")
def test_replies_are_what_the_weights_generate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: dict[str, Any] = {}
    stand_ins(monkeypatch, loaded)
    ledger = str(tmp_path / "ledger.sqlite")
    models = Models(options=ModelOptions(model="hf:some/name", ledger=ledger))
    requests = [
        ChatRequest(messages=(Message(role="user", content=text),), max_tokens=7)
        for text in ("one two three", "one")
    ]
    replies = models.chat().complete(requests)
    models.close()
    assert [one.text for one in replies] == ["3 words", "1 words"]
    assert [(one.tokens_in, one.tokens_out, one.finish_reason) for one in replies] == [
        (3, 2, "stop"),
        (1, 2, "stop"),
    ]
    assert (loaded["folder"], loaded["times"], loaded["dtype"]) == ("some/name", 1, "auto")
    assert loaded["generate"]["max_new_tokens"] == 7
    assert not loaded["generate"]["do_sample"]  # Temperature 0 takes the likeliest token.
