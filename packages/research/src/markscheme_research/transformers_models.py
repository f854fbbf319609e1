"""Models of the transformers library, from a folder or a name on the hub."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.contract import ChatReply, ChatRequest, TokenLogprobs
from markscheme.errors import MissingExtraError, ModelError
from markscheme.manifests import file_digest
from markscheme.models.chat import TOP_LOGPROBS, as_one_text, stored_places
from markscheme.models.local import (
    CHARACTERS_A_TOKEN,
    equal_length_batches,
    one_at_a_time,
)

LONGEST = 512
"""Tokens of a text, where a model's own limit is not known or is larger."""


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


Written = tuple[tuple[str, int, int], ...]


def written(name: str | Path) -> Written:
    """Name, size and time of each file in a folder of weights; () for a name on the hub.

    What is loaded once a process is remembered by them: a folder may be trained into again.
    """
    files = sorted(one for part in ("*", "onnx/*") for one in Path(name).glob(part))
    found = ((str(one), one.stat()) for one in files if one.is_file())
    return tuple((file, now.st_size, now.st_mtime_ns) for file, now in found)


def weights_hash(name: str) -> str:
    """Twelve hex digits over a folder's weights; "" for a name on the hub."""
    return _weights_hash(name, written(name))


@lru_cache(maxsize=16)
def _weights_hash(name: str, _written: Written) -> str:
    files = sorted(
        file for kind in ("*.safetensors", "*.bin", "config.json") for file in Path(name).glob(kind)
    )
    return file_digest(files, blake2b(digest_size=6)) if files else ""


@one_at_a_time
def open_weights(name: str, kind: str, wanted: str) -> tuple[Any, Any]:
    """Tokenizer and model, loaded once a process unless the files change, on a GPU where torch
    finds one.

    Args:
        name: a folder, or a name on the hub.
        kind: a class of transformers, such as `AutoModel`.
        wanted: what the model is to be, for messages.

    Raises:
        MissingExtraError: transformers or torch is not installed.
        ModelError: the weights cannot be loaded, or belong to another kind of model.
    """
    return _opened(name, kind, wanted, written(name))


def _load_weights(name: str, kind: str, wanted: str, **options: Any) -> tuple[Any, Any]:
    """As `open_weights`, loaded anew; `options` are of the model's `from_pretrained`."""
    transformers, torch = library("transformers", wanted), library("torch", wanted)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model = getattr(transformers, kind).from_pretrained(name, **options)
    except (OSError, ValueError, ImportError) as error:
        raise ModelError(
            f"cannot load {name!r} as {wanted} ({' '.join(str(error).split())}); give a folder "
            "with config.json, weights and tokenizer, or a name that can be downloaded from the hub"
        ) from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return tokenizer, model.to(device).eval()


@lru_cache(maxsize=4)
def _opened(name: str, kind: str, wanted: str, _written: Written) -> tuple[Any, Any]:
    return _load_weights(name, kind, wanted)


def longest(tokenizer: Any, model: Any, most: int = LONGEST) -> int:
    """Tokens a text may have: what tokenizer and position embeddings allow, at most `most`."""
    positions = int(getattr(model.config, "max_position_embeddings", LONGEST) or LONGEST)
    if model.config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= 2  # Their positions begin after the padding token's.
    return min(most, positions, int(min(tokenizer.model_max_length, 1_000_000)))


def _end_tokens(model: Any) -> set[int | None]:
    """The tokens that end a text; None where the model has none."""
    end = model.generation_config.eos_token_id
    return set(end) if isinstance(end, list) else {end}


# --- Encoders and pair scorers of the transformers library: any folder or hub name ----------------


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


# --- Sequence-to-sequence models of the transformers library: text in, text out -------------------


_WANTED_SEQUENCE = "a sequence-to-sequence model"


@dataclass(frozen=True, kw_only=True)
class SequenceModel:
    """A sequence-to-sequence model, such as a T5 or BART, run greedily.

    Inputs of one length run together, so that no padding can change an output, and equal inputs
    run once; on one machine the same input always gives the same output. Weights are loaded once a
    process, and run on a GPU where torch finds one.

    Attributes:
        name: a folder, or a name on the hub.

    Raises (when first used):
        MissingExtraError: transformers or torch is not installed.
        ModelError: the weights cannot be loaded, or belong to another kind of model.
    """

    name: str

    @property
    def revision(self) -> str:
        """Hash of the weights of a folder; "" for a name on the hub."""
        return weights_hash(self.name)

    def generate(self, texts: Sequence[str], *, max_tokens: int) -> list[tuple[str, bool]]:
        """For each text the output, and whether it ended before `max_tokens`."""
        tokenizer, model = self._load()
        torch = library("torch", _WANTED_SEQUENCE)
        distinct = list(dict.fromkeys(texts))
        ids = [
            np.array(
                tokenizer.encode(
                    text[: LONGEST * CHARACTERS_A_TOKEN], truncation=True, max_length=LONGEST
                ),
                np.int64,
            )
            for text in distinct
        ]
        found: dict[str, tuple[str, bool]] = {}
        for batch in equal_length_batches(np.array([len(one) for one in ids], np.int64)):
            stacked = torch.from_numpy(np.stack([ids[row] for row in batch])).to(model.device)
            with torch.inference_mode():
                made = model.generate(
                    input_ids=stacked,
                    attention_mask=torch.ones_like(stacked),
                    max_new_tokens=max_tokens,
                    do_sample=False,
                    num_beams=1,
                )
            for row, tokens in zip(batch, made.tolist(), strict=True):
                found[distinct[row]] = _output(tokens[1:], tokenizer, model)
        return [found[text] for text in texts]

    def _load(self) -> tuple[Any, Any]:
        return open_weights(self.name, "AutoModelForSeq2SeqLM", _WANTED_SEQUENCE)


def _output(tokens: Sequence[int], tokenizer: Any, model: Any) -> tuple[str, bool]:
    """The text up to the end token, and whether there is one."""
    ends = _end_tokens(model)
    stop = next((place for place, token in enumerate(tokens) if token in ends), None)
    text: str = tokenizer.decode(tokens[:stop], skip_special_tokens=True)
    return text.strip(), stop is not None


# --- Entailment cross-encoders of the transformers library ----------------------------------------


Pair = tuple[str, str]

_CLASSIFIER = ("AutoModelForSequenceClassification", "an entailment model")


@dataclass(frozen=True, kw_only=True)
class TransformersPairClassifier:
    """A sequence-pair classifier that the transformers library opens.

    Pairs of one length run together, so that no padding can change a score; equal pairs run once.

    Attributes:
        name: a folder, or a name on the hub.
        max_tokens: tokens read of a pair, framing included; the longer text loses tokens first.
    """

    name: str
    max_tokens: int = LONGEST

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names by output, from the model's configuration."""
        names: dict[int, str] = open_weights(self.name, *_CLASSIFIER)[1].config.id2label
        return tuple(str(names[place]) for place in sorted(names))

    @property
    def revision(self) -> str:
        """Hash of a folder's weights; of a model from the hub its commit, where known."""
        known = weights_hash(self.name)
        if known:
            return known
        config = open_weights(self.name, *_CLASSIFIER)[1].config
        return str(getattr(config, "_commit_hash", None) or "")

    def scores(self, pairs: Sequence[Pair]) -> Floats:
        """Probabilities in [0, 1] of shape (len(pairs), len(labels)), by softmax."""
        import torch

        tokenizer, model = open_weights(self.name, *_CLASSIFIER)
        most = longest(tokenizer, model, self.max_tokens)
        places: dict[Pair, int] = {}
        rows = [places.setdefault(pair, len(places)) for pair in pairs]
        characters = most * CHARACTERS_A_TOKEN
        encoded = [
            dict(
                tokenizer(
                    left[:characters],
                    right[:characters],
                    truncation="longest_first",
                    max_length=most,
                )
            )
            for left, right in places
        ]
        lengths: npt.NDArray[np.int64] = np.array([len(one["input_ids"]) for one in encoded], int)
        found = np.empty((len(encoded), len(self.labels)), np.float32)
        for batch in equal_length_batches(lengths):
            fed = {
                key: torch.tensor([encoded[row][key] for row in batch], device=model.device)
                for key in encoded[batch[0]]
            }
            with torch.inference_mode():
                found[batch] = model(**fed).logits.float().softmax(dim=-1).cpu().numpy()
        return found[rows]


# --- Chat models whose weights run in this process ------------------------------------------------


_CHAT = ("AutoModelForCausalLM", "a language model in this process")


@dataclass(kw_only=True)
class HuggingFaceChat:
    """A causal language model from a folder or the hub; without a chat template, it gets one text.

    One reply at a time: with padding, a batch's other requests would change a reply's last digits.
    Runs on a GPU where torch finds one. Structured output is not enforced.

    Attributes:
        name: `hf:` and a folder with weights and tokenizer, or a hub name.

    Raises (when first used):
        MissingExtraError: transformers or torch is not installed.
        ModelError: the weights cannot be loaded.
    """

    name: str
    concurrency: int = field(default=8, init=False, repr=False)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    @property
    def folder(self) -> str:
        """The name without its prefix."""
        return self.name.partition(":")[2]

    @cached_property
    def revision(self) -> str:
        """Hash of the weights of a folder; "" for a hub name, whose weights come later."""
        folder = Path(self.folder)
        # In this order, as transformers does: a trainer leaves other .bin files beside its weights.
        files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
        return file_digest(files, blake2b(digest_size=6)) if files else ""

    @cached_property
    def _weights(self) -> tuple[Any, Any]:
        # Loaded for this object, whose revision is that of the files as they are now.
        return _load_weights(self.folder, *_CHAT, dtype="auto")

    def complete(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """A reply to each request, in order. See `ChatModel`."""
        with self._lock:
            return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> ChatReply:
        if request.images:
            return ChatReply(status="failed", error=f"{self.name}: models here take no images")
        began = perf_counter()
        tokenizer, model = self._weights
        torch = library("torch", _CHAT[1])
        turns = [{"role": m.role, "content": m.content} for m in request.messages]
        try:
            if tokenizer.chat_template:
                inputs = tokenizer.apply_chat_template(
                    turns, add_generation_prompt=True, return_tensors="pt", return_dict=True
                ).to(model.device)
            else:  # A base model continues a text.
                inputs = tokenizer(as_one_text(request), return_tensors="pt").to(model.device)
            torch.manual_seed(request.sample if request.seed is None else request.seed)
            with torch.inference_mode():
                made = model.generate(**inputs, **_sampling(request, tokenizer))
        except (RuntimeError, ValueError, IndexError) as error:
            # Out of memory, longer than the model's positions, no chat template.
            return ChatReply(
                status="failed", error=f"{type(error).__name__}: {' '.join(str(error).split())}"
            )
        length = inputs["input_ids"].shape[1]
        tokens = made.sequences[0][length:]
        ended = bool(len(tokens)) and int(tokens[-1]) in _end_tokens(model)
        return ChatReply(
            status="ok",
            text=tokenizer.decode(tokens, skip_special_tokens=True),
            finish_reason="stop" if ended else "length",
            tokens_in=length,
            tokens_out=len(tokens),
            seconds=round(perf_counter() - began, 6),
            token_logprobs=_token_logprobs(made, tokens, tokenizer) if request.logprobs else None,
            model=self.name,
        )


def _sampling(request: ChatRequest, tokenizer: Any) -> dict[str, Any]:
    """Arguments of `generate`: greedy at temperature 0, sampling above."""
    warm = request.temperature is None or request.temperature > 0
    options: dict[str, Any] = {
        "max_new_tokens": request.max_tokens,
        "do_sample": warm,
        "return_dict_in_generate": True,
        "output_scores": request.logprobs,
        "pad_token_id": tokenizer.pad_token_id or tokenizer.eos_token_id,
    }
    if warm and request.temperature is not None:
        options["temperature"] = request.temperature
    if warm and request.top_p is not None:
        options["top_p"] = request.top_p
    return options


def _token_logprobs(made: Any, tokens: Any, tokenizer: Any) -> TokenLogprobs | None:
    torch = library("torch", _CHAT[1])
    found: list[dict[str, float] | None] = []
    for scores, token in zip(made.scores, tokens, strict=False):
        logprobs = torch.log_softmax(scores[0].float(), dim=-1)
        values, places = logprobs.topk(TOP_LOGPROBS)
        alternatives = {tokenizer.decode([int(token)]): float(logprobs[token])}
        for value, place in zip(values.tolist(), places.tolist(), strict=True):
            if value > float("-inf"):
                alternatives.setdefault(tokenizer.decode([place]), value)
        found.append(alternatives)
    return stored_places(found)


# --- Causal language models that are read from, never written with --------------------------------


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
