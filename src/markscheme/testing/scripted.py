"""The scripted chat model, under its public name for tests."""

from __future__ import annotations

from markscheme.models.chat import ScriptedChat

__all__ = ["ScriptedChat"]
