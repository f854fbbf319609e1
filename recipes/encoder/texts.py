"""Texts as the encoders read them: what is cut, and MPNet's tokenizer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REFERENCES, ANSWER, QUESTION = 1000, 2000, 600
"""Characters read of the references together, of the answer and of the question."""
MOST_TOKENS = 380
"""Most tokens of one text."""
Offsets = list[tuple[int, int]]
"""Start and end, in characters of a text, of each of its tokens."""
_SPECIAL = re.compile(r"\[(?=(?:SEP|CLS|PAD|UNK|MASK)\])|<(?=(?:/?s|pad|unk|mask)>)", re.IGNORECASE)
"""First character of what a tokenizer would read as a special token: in a text it is only text."""


def encoder_texts(question: str, references: Sequence[str], answer: str) -> tuple[str, str, str]:
    """The three texts that an encoder reads; characters keep their positions up to the cut."""
    cut = (question[:QUESTION], " ; ".join(references)[:REFERENCES], answer[:ANSWER])
    first, second, third = (_SPECIAL.sub("(", text) for text in cut)
    return first, second, third


def mpnet_tokenizer(folder: Path) -> Any:
    """The tokenizer of MPNet, from the folder of its published weights."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
