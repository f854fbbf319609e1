"""In the tests of models nobody waits for what a provider or another process would need."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at batches and at another process's claims, and pauses that a server left open."""
    from markscheme.models.chat import batch_chat, cached, throttle

    monkeypatch.setattr(batch_chat, "_FIRST_LOOK", 0.01)
    monkeypatch.setattr(cached, "_LOOK_AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(throttle, "_UNSAID_PAUSE", 0.01)
