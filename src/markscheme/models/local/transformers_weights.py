"""Weights that the transformers library opens: a folder, or a name on the hub."""

from __future__ import annotations

import importlib
import threading
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from markscheme.errors import MissingExtraError, ModelError

LONGEST = 512
"""Tokens of a text, where a model's own limit is not known or is larger."""

_loading = threading.Lock()


def library(name: str, wanted: str, extra: str = "hf") -> Any:
    """A heavy, optional library, imported where it is used; untyped, so that checking types does
    not need it.

    Raises:
        MissingExtraError: it is not installed; `wanted` is what needs it.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(wanted, extra) from None


def open_weights(name: str, kind: str, wanted: str) -> tuple[Any, Any]:
    """Tokenizer and model, loaded once a process, on a GPU where torch finds one.

    Args:
        name: a folder, or a name on the hub.
        kind: a class of transformers, such as `AutoModel`.
        wanted: what the model is to be, for messages.

    Raises:
        MissingExtraError: transformers or torch is not installed.
        ModelError: the weights cannot be loaded, or belong to another kind of model.
    """
    with _loading:  # lru_cache alone would let two threads load the same weights twice
        return _opened(name, kind, wanted)


@lru_cache(maxsize=4)
def _opened(name: str, kind: str, wanted: str) -> tuple[Any, Any]:
    transformers, torch = library("transformers", wanted), library("torch", wanted)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model = getattr(transformers, kind).from_pretrained(name)
    except (OSError, ValueError, ImportError) as error:
        raise ModelError(
            f"cannot load {name!r} as {wanted} ({' '.join(str(error).split())}); give a folder "
            "with config.json, weights and tokenizer, or a name that can be downloaded from the hub"
        ) from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return tokenizer, model.to(device).eval()


def longest(tokenizer: Any, model: Any, most: int = LONGEST) -> int:
    """Tokens a text may have: what tokenizer and position embeddings allow, at most `most`."""
    positions = int(getattr(model.config, "max_position_embeddings", LONGEST) or LONGEST)
    if model.config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= 2  # Their positions begin after the padding token's.
    return min(most, positions, int(min(tokenizer.model_max_length, 1_000_000)))


@lru_cache(maxsize=16)
def weights_hash(name: str) -> str:
    """Twelve hex digits over a folder's weights; "" for a name on the hub."""
    files = sorted(
        file for kind in ("*.safetensors", "*.bin", "config.json") for file in Path(name).glob(kind)
    )
    found = blake2b(digest_size=6)
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 22):
                found.update(block)
    return found.hexdigest() if files else ""
