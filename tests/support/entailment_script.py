"""A chat model that plays the parts of Yao & Barbosa's pipeline from a script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from markscheme.contract import ChatReply
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models

PAIR = re.compile(r"convert this pair:\s+Q: (?P<q>.*)\sA: (?P<a>.*)\sS:$", re.DOTALL)
TEST = re.compile(r"Premise: (?P<p>.*)\sHypothesis: (?P<h>.*)\s\sIs it entailment", re.DOTALL)
GAP = re.compile(r"S1: (?P<p>.*)\sS2: (?P<h>.*)\sNow, list the reasoning", re.DOTALL)

Reply = str | ChatReply


@dataclass(kw_only=True)
class Script:
    """Replies by stage.

    Attributes:
        statements: by bare answer.
        entailing: pairs of statements of which the first entails the second.
        tests: other replies to tests, by pair of statements.
        gaps: explanations, by pair of statements.
        rating: of every explanation.
    """

    statements: Mapping[str, Reply] = field(default_factory=dict)
    entailing: set[tuple[str, str]] = field(default_factory=set)
    tests: Mapping[tuple[str, str], Reply] = field(default_factory=dict)
    gaps: Mapping[tuple[str, str], Reply] = field(default_factory=dict)
    rating: Reply = "2"

    def __call__(self, text: str) -> Reply:
        """The reply to a last user message."""
        if found := PAIR.search(text):
            return self.statements[found["a"]]
        if found := TEST.search(text):
            pair = (found["p"], found["h"])
            return self.tests.get(pair, "entailment" if pair in self.entailing else "neutral")
        if found := GAP.search(text):
            return self.gaps[found["p"], found["h"]]
        if text.startswith("Based on the reasoning steps, rate"):
            return self.rating
        if "I could not read" in text:
            return ""
        raise AssertionError(f"no stage of the pipeline asks this: {text}")

    def models(self) -> tuple[Models, ScriptedChat]:
        """Models that answer so, and the chat model itself."""
        chat = ScriptedChat(replies=self)
        return Models(chat=chat), chat
