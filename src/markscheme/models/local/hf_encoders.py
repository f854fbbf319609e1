"""Encoders and pair scorers of the transformers library: any folder or hub name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from markscheme.errors import ModelError
from markscheme.models.local.batches import CHARACTERS_A_TOKEN, equal_length_batches
from markscheme.models.local.transformers_weights import longest, open_weights

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]

_WANTED = "an encoder"


class TransformersTokenEncoder:
    """Vectors of the tokens of texts, from an encoder's hidden layer.

    Loaded at most once a process for each name. Texts of one length run together, so that no
    padding can change a vector.
    """

    def __init__(self, name: str, *, layer: int | None = None) -> None:
        """Load the weights.

        Args:
            name: a folder, or a name on the hub.
            layer: hidden layer, the embeddings being 0; None for the last.

        Raises:
            MissingExtraError: transformers or torch is not installed.
            ModelError: the weights cannot be loaded, or have no such layer.
        """
        self._tokenizer, self._model = open_weights(name, "AutoModel", _WANTED)
        layers = int(self._model.config.num_hidden_layers)
        if layer is not None and not 0 <= layer <= layers:
            raise ModelError(f"{name} has layers 0 to {layers}, not {layer}")
        self._layer = layers if layer is None else layer
        self._longest = longest(self._tokenizer, self._model)

    def encode(self, texts: Sequence[str]) -> list[tuple[Floats, npt.NDArray[np.bool_]]]:
        """For each text its tokens' vectors of length one, and which tokens are of the text.

        The other tokens are those that frame it, such as [CLS] and [SEP].
        """
        import torch

        ids = [
            np.array(
                self._tokenizer.encode(
                    text[: self._longest * CHARACTERS_A_TOKEN],
                    truncation=True, max_length=self._longest,
                ),
                np.int64,
            )
            for text in texts
        ]  # fmt: skip
        special = np.array(sorted({*self._tokenizer.all_special_ids}), np.int64)
        found: list[tuple[Floats, npt.NDArray[np.bool_]]] = [
            (np.empty((0, 0), np.float32), np.empty(0, bool))
        ] * len(texts)
        for batch in equal_length_batches(np.array([len(one) for one in ids], np.int64)):
            stacked = torch.from_numpy(np.stack([ids[row] for row in batch]))
            with torch.inference_mode():
                hidden = self._model(
                    input_ids=stacked.to(self._model.device), output_hidden_states=True
                ).hidden_states[self._layer]
                vectors = torch.nn.functional.normalize(hidden.float(), dim=-1).cpu().numpy()
            for row, vector in zip(batch, vectors, strict=True):
                found[row] = (vector, ~np.isin(ids[row], special))
        return found


class SequenceScorer:
    """A sequence classification model over token segments: BLEURT, BEM and their like."""

    def __init__(self, name: str, *, outputs: int) -> None:
        """Load the weights.

        Args:
            name: a folder, or a name on the hub.
            outputs: how many outputs it must have.

        Raises:
            MissingExtraError: transformers or torch is not installed.
            ModelError: the weights cannot be loaded, or have another number of outputs.
        """
        self._tokenizer, self._model = open_weights(
            name, "AutoModelForSequenceClassification", _WANTED
        )
        if self._model.config.num_labels != outputs:
            raise ModelError(
                f"{name} has {self._model.config.num_labels} outputs, not {outputs}: it is another "
                "kind of model than this judge needs"
            )
        self._longest = longest(self._tokenizer, self._model)

    def logits(self, segments: Sequence[Sequence[Sequence[str]]]) -> Floats:
        """Outputs for rows of segments.

        Args:
            segments: for each row its one or two segments, each a list of texts. The row becomes
                [CLS] text [SEP] text [SEP] ...; all texts of a segment have its number as their
                type. A row that is too long is cut at the end of its first text.

        Returns:
            (rows, outputs).
        """
        import torch

        rows = [self._row(one) for one in segments]
        outputs = np.empty((len(rows), self._model.config.num_labels), np.float32)
        typed = int(getattr(self._model.config, "type_vocab_size", 1) or 1) > 1
        for batch in equal_length_batches(np.array([len(ids) for ids, _ in rows], np.int64)):
            fed = {"input_ids": torch.from_numpy(np.stack([rows[row][0] for row in batch]))}
            if typed:
                fed["token_type_ids"] = torch.from_numpy(np.stack([rows[row][1] for row in batch]))
            with torch.inference_mode():
                given = {key: value.to(self._model.device) for key, value in fed.items()}
                outputs[batch] = self._model(**given).logits.float().cpu().numpy()
        return outputs

    def _row(self, segments: Sequence[Sequence[str]]) -> tuple[Ids, Ids]:
        # Each text is tokenised by itself, so that "[SEP]" in an answer stays a word of it.
        texts = [[self._plain(text) for text in segment] for segment in segments]
        first = texts[0][0]
        rest = sum(len(ids) + 1 for segment in texts for ids in segment) - len(first) + 1
        texts[0][0] = first[: max(1, self._longest - rest)]
        ids, kinds = [self._tokenizer.cls_token_id], [0]
        for kind, segment in enumerate(texts):
            for tokens in segment:
                ids += [*tokens, self._tokenizer.sep_token_id]
                kinds += [kind] * (len(tokens) + 1)
        return np.array(ids[: self._longest], np.int64), np.array(kinds[: self._longest], np.int64)

    def _plain(self, text: str) -> list[int]:
        cut = text[: self._longest * CHARACTERS_A_TOKEN]
        pieces = self._tokenizer.tokenize(cut, split_special_tokens=True)
        ids: list[int] = self._tokenizer.convert_tokens_to_ids(pieces)
        return ids[: self._longest]
