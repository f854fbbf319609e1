"""Causal language models that the transformers library opens: read from, never written with."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from markscheme.errors import ModelError
from markscheme.models.local.weights import file_digest, library, weights_hash


def load_causal(
    name: str, *, commit: str | None = None, quantized: Mapping[str, Any] | None = None
) -> tuple[Any, Any]:
    """Tokenizer and causal model by a folder, a `.gguf` file or a name on the hub.

    In bfloat16 on a GPU, in float32 on a processor, unless `quantized` says otherwise.

    Args:
        name: which.
        commit: of a name on the hub, the version wanted; the newest if none.
        quantized: what `from_pretrained` takes to hold the weights in fewer bits, and where.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        ModelError: it cannot be loaded.
    """
    torch, transformers = lora_library("torch"), lora_library("transformers")
    gpu = torch.cuda.is_available()
    file, source = Path(name), name
    where: dict[str, Any] = {} if commit is None else {"revision": commit}
    if not file.exists() and (file.is_absolute() or len(file.parts) > 2 or file.suffix == ".gguf"):
        raise ModelError(f"there is no model at {name!r}")
    if file.suffix == ".gguf":
        source, where = str(file.parent), {"gguf_file": file.name}
    options = quantized or {"dtype": torch.bfloat16 if gpu else torch.float32}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **where)
        model = transformers.AutoModelForCausalLM.from_pretrained(source, **where, **options)
    except (OSError, ValueError, ImportError) as error:
        raise ModelError(
            f"cannot load {name!r} as a causal language model ({' '.join(str(error).split())}); "
            "give a folder with config.json, weights and tokenizer, a .gguf file (with the "
            "package gguf), or a name that can be downloaded from the hub"
        ) from None
    # Weights in fewer bits are where they belong already, and refuse to be moved.
    return tokenizer, (model if quantized else model.to("cuda" if gpu else "cpu")).eval()


def causal_revision(name: str, model: Any = None) -> str:
    """What the weights are: `weights:` and a hash of a folder's or file's; of a model from the hub
    `commit:` and its commit, where `model` has been loaded; else "".
    """
    file = Path(name)
    if file.suffix == ".gguf" and file.is_file():
        return f"weights:{file_digest([file], blake2b(digest_size=6))}"
    known = weights_hash(name)
    commit = getattr(getattr(model, "config", None), "_commit_hash", None)
    return f"weights:{known}" if known else (f"commit:{commit}" if commit else "")


def lora_library(name: str) -> Any:
    """A library of the extra `lora`; see `library`."""
    return library(name, "a learned judge", "lora")
