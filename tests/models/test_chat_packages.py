"""Chat models of other packages, by the prefix of their names."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from markscheme.contract import ChatRequest, Message
from markscheme.errors import MissingExtraError, ModelError
from markscheme.models import ModelOptions, Models

REQUEST = ChatRequest(messages=(Message(role="user", content="Is it so?"),))
THEIRS = """
from markscheme.testing import ScriptedChat

def opened(name):
    return ScriptedChat(name=name, revision="r1", replies=lambda text: f"{name} read {text}")
"""


def add_package(folder: Path, points: str) -> None:
    """A distribution of one module that has a chat model."""
    (folder / "their_chat.py").write_text(THEIRS)
    info = folder / "their_chat-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-chat\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[markscheme.chat_models]\n{points}\n")


def test_a_prefix_opens_another_packages_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_package(tmp_path, "theirs = their_chat:opened")
    monkeypatch.syspath_prepend(str(tmp_path))
    ledger = str(tmp_path / "ledger.sqlite")
    models = Models(options=ModelOptions(model="theirs:large", ledger=ledger))
    chat = models.chat()
    (reply,) = chat.complete([REQUEST])
    models.close()
    assert reply.text == "theirs:large read Is it so?"
    assert (chat.name, chat.revision, models.side_by_side) == ("theirs:large", "r1", 1)
    replayed = Models(
        options=ModelOptions(model="theirs:large", revision="r1", ledger=ledger, replay=True)
    )
    assert [one.text for one in replayed.chat().complete([REQUEST])] == [reply.text]


def test_weights_in_this_process_need_the_research_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **wanted: [])
    ledger = str(tmp_path / "ledger.sqlite")
    models = Models(options=ModelOptions(model="hf:some/name", ledger=ledger))
    wanted = r"'hf:some/name' .*pip install '\.\[hf\]' ./packages/research"
    with pytest.raises(MissingExtraError, match=wanted):
        models.chat()
    named = Models(options=ModelOptions(model="nobody:some", ledger=ledger, replay=True))
    with pytest.raises(ModelError, match="there is no ledger"):  # A name with a colon is a name.
        named.chat()
