"""Chat models whose weights run in this process, through transformers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from typing import Any

from markscheme.contract import ChatReply, ChatRequest, OnReply, TokenLogprobs
from markscheme.errors import ModelError
from markscheme.models.chat.openai_format import as_one_text
from markscheme.models.chat.reading import stored_places
from markscheme.models.chat.wire import TOP_LOGPROBS
from markscheme.models.local import file_digest, library

_WANTED = "a language model in this process"


@dataclass(kw_only=True)
class HuggingFaceChat:
    """A causal language model from a folder or the hub; without a chat template, it gets one text.

    One reply at a time: with padding, a batch's other requests would change a reply's last digits.
    Runs on a GPU where torch finds one. Structured output is not enforced.

    Attributes:
        name: as it goes into signatures.
        folder: folder with weights and tokenizer, or a hub name.
        dtype: as torch calls it; `auto` takes what the weights were saved in.

    Raises (when first used):
        MissingExtraError: transformers or torch is not installed.
        ModelError: the weights cannot be loaded.
    """

    name: str
    folder: str
    dtype: str = "auto"
    concurrency: int = field(default=8, init=False, repr=False)

    def __post_init__(self) -> None:
        self._loaded: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    @cached_property
    def revision(self) -> str:
        """Hash of the weights of a folder; "" for a hub name, whose weights come later."""
        folder = Path(self.folder)
        # In this order, as transformers does: a trainer leaves other .bin files beside its weights.
        files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
        return file_digest(files, blake2b(digest_size=6)) if files else ""

    def complete(
        self, requests: Sequence[ChatRequest], *, on_reply: OnReply | None = None
    ) -> list[ChatReply]:
        """A reply to each request, in order. See `ChatModel`."""
        replies = []
        with self._lock:
            for place, request in enumerate(requests):
                reply = self._reply(request)
                replies.append(reply)
                if on_reply is not None:
                    on_reply(place, reply)
        return replies

    def _reply(self, request: ChatRequest) -> ChatReply:
        if request.images:
            return ChatReply(status="failed", error=f"{self.name}: models here take no images")
        began = perf_counter()
        tokenizer, model = self._load()
        torch = library("torch", _WANTED)
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
        ended = bool(len(tokens)) and int(tokens[-1]) in _ends(model)
        return ChatReply(
            status="ok",
            text=tokenizer.decode(tokens, skip_special_tokens=True),
            finish_reason="stop" if ended else "length",
            tokens_in=length,
            tokens_out=len(tokens),
            seconds=round(perf_counter() - began, 6),
            token_logprobs=_logprobs(made, tokens, tokenizer) if request.logprobs else None,
            model=self.name,
        )

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            torch, transformers = library("torch", _WANTED), library("transformers", _WANTED)
            try:
                tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder)
                model = transformers.AutoModelForCausalLM.from_pretrained(
                    self.folder, dtype=self.dtype
                )
            except (OSError, ValueError) as error:
                raise ModelError(
                    f"no model can be loaded from {self.folder}: {' '.join(str(error).split())}"
                ) from None
            device = "cuda" if torch.cuda.is_available() else "cpu"
            self._loaded = tokenizer, model.to(device).eval()
        return self._loaded


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


def _ends(model: Any) -> set[int]:
    end = model.generation_config.eos_token_id
    return set(end) if isinstance(end, list) else {end}


def _logprobs(made: Any, tokens: Any, tokenizer: Any) -> TokenLogprobs | None:
    torch = library("torch", _WANTED)
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
