"""What is known of a model: its protocol, address, key's place, parameters, prices. Data, not code.

`models.toml` files are read in this order, later entries over earlier ones: the one that ships, the
user's (`~/.config/markscheme/models.toml`), those that MARKSCHEME_MODELS names, and the one of
`--models`. An entry whose name ends in a colon is a provider; every model whose name begins so has
its values.
"""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

import orjson

from markscheme.contract import from_table
from markscheme.errors import DataError, MarkschemeError, ModelError
from markscheme.models.options import ServerOptions

# --- What tokens cost -----------------------------------------------------------------------------


PRICE_FIELDS = ("input", "cached", "output", "reasoning", "batch")
"""Fields of a model's entry that make its price."""

BATCH_SHARE = 0.5
"""What a batched call costs as a share of an ordinary one, where the entry does not say."""

_DATED = re.compile(r"[-@:]?(\d{4}-?\d{2}-?\d{2}|\d{4}|latest)$")
"""The date, or the `latest`, at the end of a model's name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """US dollars for a million tokens.

    Attributes:
        input, output: in and out.
        cached: in, of what the server had cached; None for `input`.
        reasoning: out, of reasoning; None for `output`.
        batch: what a batched call costs as a share of an ordinary one; None for `BATCH_SHARE`.
    """

    input: float
    output: float
    cached: float | None = None
    reasoning: float | None = None
    batch: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no price, with a ValueError."""
        for name in PRICE_FIELDS:
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1e12:
                share = name == "batch"
                wanted = "a share, such as 0.5" if share else "dollars for a million tokens"
                raise ValueError(f"{name}={value!r} is not {wanted}")

    def cost(
        self, tokens_in: int, tokens_out: int, *, cached: int = 0, reasoning: int = 0
    ) -> float:
        """US dollars for so many tokens; `cached` and `reasoning` are parts of the two."""
        cached, reasoning = min(cached, tokens_in), min(reasoning, tokens_out)
        old = self.input if self.cached is None else self.cached
        thought = self.output if self.reasoning is None else self.reasoning
        return (
            (tokens_in - cached) * self.input
            + cached * old
            + (tokens_out - reasoning) * self.output
            + reasoning * thought
        ) / 1e6


def batch_share(price: Price | None) -> float:
    """What a batched call costs as a share of an ordinary one."""
    return BATCH_SHARE if price is None or price.batch is None else price.batch


def price_in(entry: Mapping[str, Any]) -> Price | None:
    """The price in a model's entry, if there is one."""
    if "input" not in entry or "output" not in entry:
        return None
    given = {name: float(entry[name]) for name in PRICE_FIELDS if name in entry}
    return Price(**given)


# --- Profiles -------------------------------------------------------------------------------------


MODELS_ENV = "MARKSCHEME_MODELS"
"""Environment variable that names further model files, separated as in PATH."""

PRICES_ENV = "MARKSCHEME_PRICES"
"""Older name of the same."""

_SHIPPED = Path(__file__).parent / "models.toml"
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_OURS = ("model", "messages", "input", "contents", "prompt", "stream")
_OPENAI = "https://api.openai.com/v1"
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")

ProtocolName = Literal["chat", "completions", "responses", "messages", "gemini"]
"""`chat`, `completions`, `responses` are OpenAI's; `messages` Anthropic's; `gemini` Google's."""

Feature = Literal["temperature", "top_p", "seed", "schema", "logprobs", "effort", "verbosity"]
FEATURES: tuple[Feature, ...] = get_args(Feature)
"""What a model may lack; it is then left out of what is sent to it."""


@dataclass(frozen=True, kw_only=True)
class ModelProfile:
    """How a model is reached and what it supports.

    Attributes:
        name: as the user wrote it; goes into ledger and signature.
        served: its name at the server.
        protocol: see `ProtocolName`.
        base_url: the address before the protocol's own path; None for OpenAI's.
        key_env: the environment variable that holds the key.
        key_header: the header that carries the key, if not the protocol's usual one.
        headers, query, extra: further headers, parameters of the address, fields of the body. A
            header's `$NAME` is the environment variable of that name.
        reasoning_effort, verbosity, service_tier: sent as the protocol calls them.
        room: tokens for reasoning, added to the limit that a judge sets for its reply.
        limit_name: the body's field for that limit, where the protocol's usual one is refused.
        lacks: features (see `FEATURES`) that are not sent.
        image_tokens: tokens that an image costs at most, for budgets and dry runs; None for what
            its size says.
        price: dollars for tokens; None where unknown.
        moved: whether the run's options put it at another address than the model files do.
    """

    name: str
    served: str
    protocol: ProtocolName = "chat"
    base_url: str | None = None
    key_env: str = "OPENAI_API_KEY"
    key_header: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    reasoning_effort: str | None = None
    verbosity: str | None = None
    service_tier: str | None = None
    room: int = 0
    limit_name: str | None = None
    lacks: tuple[Feature, ...] = ()
    image_tokens: int | None = None
    price: Price | None = None
    moved: bool = False

    def __post_init__(self) -> None:
        """Refuse negative tokens, and `extra` that sets what a request is, with a ValueError."""
        for name, tokens in (("room", self.room), ("image_tokens", self.image_tokens)):
            if tokens is not None and tokens < 0:
                raise ValueError(f"{name}={tokens} is not a number of tokens")
        for name in _OURS:
            if name in self.extra:
                raise ValueError(
                    f"extra: {name} is what every request is made of, and cannot be set"
                )

    @property
    def address(self) -> str:
        """The base address with its variables filled in, without a query or a final slash.

        Raises:
            ModelError: a variable is not set, or the address holds a name or password.
        """
        return urlunsplit((*self._parts()[:3], "", "")).rstrip("/")

    def parameters(self) -> dict[str, str]:
        """Parameters of the address: those in the base address, and `query`."""
        return {**dict(parse_qsl(self._parts().query)), **self.query}

    @property
    def takes_api_key_header(self) -> bool:
        """Whether the address is one of Azure's, which want the key in a header of its own."""
        return (self._parts().hostname or "").endswith(_AZURE)

    def _parts(self) -> SplitResult:
        address = from_environment(self.base_url or _OPENAI, f"the address of {self.name}")
        try:
            parts = urlsplit(address)
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable or any(map(str.isspace, parts.netloc)):
            shown = address.rpartition("@")[2]  # What precedes it may be a password.
            raise ModelError(
                f"--base-url {shown!r} is not the address of a server; write it like "
                "http://localhost:8000/v1"
            )
        if parts.password or parts.username:
            raise ModelError(
                "--base-url must not carry a name or password; put the key into the environment "
                "and name its variable with --api-key-env"
            )
        return parts

    def is_at(self, address: str | None) -> bool:
        """Whether a base address, or OpenAI's for None, is this model's own."""
        theirs = self.base_url or _OPENAI, address or _OPENAI
        if theirs[0] == theirs[1]:
            return True
        try:
            return self._canonical() == dataclasses.replace(self, base_url=address)._canonical()
        except ModelError:  # A variable in one of them is not set.
            return False

    def _canonical(self) -> str:
        """Scheme, host, port and path in one spelling; what else an address has may be a key."""
        parts = self._parts()
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        port = {"http": 80, "https": 443}[parts.scheme] if parts.port is None else parts.port
        return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"

    def settings(self) -> str:
        """What of this changes replies, in words: part of the ledger's key and of signatures."""
        values = {
            "at": self._canonical() if self.moved else None,
            "protocol": None if self.protocol == "chat" else self.protocol,
            "effort": self.reasoning_effort,
            "verbosity": self.verbosity,
            "without": ",".join(sorted(set(self.lacks))) or None,
            "extra": _hash(self.extra) if self.extra else None,
        }
        return " ".join(f"{name}={value}" for name, value in values.items() if value is not None)


def _hash(value: object) -> str:
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return blake2b(text, digest_size=4).hexdigest()


def from_environment(text: str, what: str) -> str:
    """A text whose `$NAME`s are environment variables.

    Raises:
        ModelError: one of them is not set.
    """

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if not found:
            raise ModelError(f"{what} needs the environment variable {match[1]}; set it")
        return found

    return _VARIABLE.sub(value, text)


class ModelTable:
    """Entries of model files, by name."""

    def __init__(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        self._entries = dict(entries)
        self._providers = sorted((n for n in self._entries if n.endswith(":")), key=len)

    @property
    def prices(self) -> dict[str, Price]:
        """The prices in it, by name of the model."""
        found = {name: price_in(entry) for name, entry in self._entries.items()}
        return {name: price for name, price in found.items() if price is not None}

    @property
    def highest_price(self) -> Price:
        """The highest price of input and of output: what an unpriced model may cost."""
        prices = self.prices.values()
        return Price(
            input=max((one.input for one in prices), default=0.0),
            output=max((one.output for one in prices), default=0.0),
        )

    def profile(
        self, name: str, options: ServerOptions | None = None, *, elsewhere: bool = False
    ) -> ModelProfile:
        """What is known of a model, with a run's options over it.

        Args:
            name: the model; `PROVIDER:MODEL` for a model of a provider in the table.
            options: the run's address, key and settings.
            elsewhere: this is not the run's own model, so that its entry's address and key come
                before those of the options.
        """
        provider = next((p for p in reversed(self._providers) if name.startswith(p)), "")
        served = name.removeprefix(provider)
        values: dict[str, Any] = {"served": served}
        plain = served if provider == "openai:" else name  # OpenAI's entries name no provider.
        for entry in (_DATED.sub("", plain), plain, provider, _DATED.sub("", name), name):
            values |= self._entries.get(entry, {})
        price = price_in(values)
        known = {one.name for one in dataclasses.fields(ModelProfile)}
        values = {key: value for key, value in values.items() if key in known}
        own_address = values.get("base_url")
        if options is not None:
            values = _with_options(values, options, elsewhere=elsewhere)
        values["lacks"] = tuple(values.get("lacks", ()))
        found = ModelProfile(**{"price": price, **values, "name": name})
        # Another server may have another model under this name.
        return dataclasses.replace(found, moved=not found.is_at(own_address))


def _with_options(
    values: dict[str, Any], options: ServerOptions, *, elsewhere: bool
) -> dict[str, Any]:
    given = {
        "base_url": options.base_url,
        "key_env": options.api_key_env,
        "reasoning_effort": options.reasoning_effort,
        "verbosity": options.verbosity,
        "service_tier": options.service_tier,
        "room": options.reasoning_room,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if elsewhere and "base_url" in values:
        given.pop("base_url", None)
        given.pop("key_env", None)
    return {**values, **given}


def model_table(*files: str | Path | None) -> ModelTable:
    """The shipped entries, with those of the user's files over them.

    Args:
        files: further files, each over those before it; None is no file.

    Raises:
        DataError: a file cannot be read; names entry and field that are wrong.
    """
    entries = dict(_shipped())
    for path in [*_users_files(), *(Path(one) for one in files if one)]:
        for name, entry in read_models(path).items():
            entries[name] = {**entries.get(name, {}), **entry}
    return ModelTable(entries)


@cache
def _shipped() -> Mapping[str, dict[str, Any]]:
    return read_models(_SHIPPED)


def _users_files() -> Iterable[Path]:
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    own = Path(home) / "markscheme" / "models.toml"
    named = [os.environ.get(PRICES_ENV, ""), *os.environ.get(MODELS_ENV, "").split(os.pathsep)]
    return [*([own] if own.is_file() else []), *(Path(one) for one in named if one)]


def read_models(path: Path) -> dict[str, dict[str, Any]]:
    """The entries of a model file.

    Raises:
        DataError: the file cannot be read; names entry and field that are wrong.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"the model file {path} cannot be read: {error}") from None
    found = {}
    for name, entry in table.items():
        if not isinstance(entry, Mapping):
            raise DataError(
                f'{path}: {name} is not an entry; write ["{name}"] and its fields under it'
            )
        try:
            _check_entry(name, entry, f'{path}: ["{name}"]')
        except MarkschemeError as error:
            raise DataError(str(error)) from None
        found[name] = dict(entry)
    return found


def _check_entry(name: str, entry: Mapping[str, Any], where: str) -> None:
    prices = {key: value for key, value in entry.items() if key in PRICE_FIELDS}
    if not {"input", "output"} & set(prices):  # an entry over another one may change the rest only
        prices |= {"input": 0.0, "output": 0.0}
    price = from_table(Price, prices, where)
    also = (*PRICE_FIELDS, "as_of")
    fixed = {"name": name, "price": price, "moved": False}
    from_table(ModelProfile, {"served": name, **entry}, where, also=also, **fixed)
