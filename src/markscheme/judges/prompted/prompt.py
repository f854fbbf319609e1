"""Prompts as data: one TOML file each, read, checked, hashed and filled in here.

A file holds `summary`, `paper`, `citation`, `quoted` (whether the wording is a paper's), `parser`,
`user` and, where wanted, `system`, `repair`, `schema`, `accept_from` and `[sampling]`. Templates
are Jinja2's, in its sandbox; a variable that does not exist is an error. They may use `question`,
`references` (a list), `answer`, `context` (or none), `fence` (a word that occurs in none of the
others, the same for the same item) and `examples` (solved items).
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markscheme.errors import JudgeError

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

FOLDER = Path(__file__).parent / "prompts"

LISTED = ("ten", "pair", "rank")
STAGES = ("statement", "entailment", "steps", "difficulty")
PARSERS = ("yes_no", "yes_no_last", "score", "relation", "grade", *LISTED, *STAGES)
"""What a reply is read as; see `markscheme.text.replies`. Those in `LISTED` belong to judges by
graded lists, see `markscheme.judges.listwise`; those in `STAGES` are a stage of a judge that asks
several things (`markscheme.judges.entailment`), whose templates have variables of their own, see
`Prompt.turns`."""

REPAIRS = {
    "yes_no": "I could not read a verdict in your reply. Reply with one word: Yes or No.",
    "score": "I could not read a mark in your reply. Reply with one number from 1 to 5.",
    "relation": (
        "I could not read your reply. Reply with one word: superior, equivalent, inferior or "
        "incorrect."
    ),
    "grade": (
        "I could not read your reply as the JSON object that was asked for: {{ trouble }}. Reply "
        "with that object and nothing else."
    ),
}
REPAIRS["yes_no_last"] = REPAIRS["yes_no"]


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A prompt with all that decides what a model is sent and how its reply is read.

    Attributes:
        name: its file's name without the ending.
        summary: one sentence for lists of judges.
        paper: where it comes from; says so where the wording is ours.
        citation: the paper in full.
        quoted: whether the wording is as a paper prints it.
        parser: one of `PARSERS`.
        system, user: templates; no system message where empty.
        repair: template of the one further message where a reply cannot be read.
        schema: JSON schema for servers that can keep to one.
        accept_from: score from which an answer is accepted, for parsers without a verdict.
        temperature, max_tokens, logprobs: sampling.
    """

    name: str
    summary: str
    paper: str
    citation: str
    quoted: bool
    parser: str
    user: str
    system: str
    repair: str
    schema: str | None
    accept_from: float
    temperature: float
    max_tokens: int
    logprobs: bool

    @functools.cached_property
    def hash(self) -> str:
        """Sixteen hex digits over everything that can change a judgment; for signatures."""
        decisive = {
            key: value
            for key, value in asdict(self).items()
            if key not in ("name", "summary", "paper", "citation", "quoted")
        }
        text = json.dumps(decisive, sort_keys=True, ensure_ascii=False)
        return blake2b(text.encode(), digest_size=8).hexdigest()

    def messages(
        self,
        *,
        question: str,
        references: Sequence[str],
        answer: str,
        context: str | None = None,
        examples: Sequence[Mapping[str, Any]] = (),
    ) -> tuple[tuple[str, str], ...]:
        """The conversation to open with, as pairs of role and text.

        Raises:
            JudgeError: a template names a variable that does not exist.
        """
        values = {
            "question": question,
            "references": list(references),
            "answer": answer,
            "context": context,
            "examples": list(examples),
            "fence": fence(question, *references, answer, context or ""),
        }
        return self.turns(values)

    def turns(self, values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The conversation to open with, as pairs of role and text, from any variables.

        Raises:
            JudgeError: a template names a variable that is not among `values`.
        """
        turns = (("system", self.system), ("user", self.user))
        return tuple((role, self._filled(text, values)) for role, text in turns if text)

    def repair_message(self, trouble: str) -> str:
        """What to say to a model whose reply could not be read, and why it could not."""
        return self._filled(self.repair, {"trouble": trouble})

    def _filled(self, template: str, values: Mapping[str, Any]) -> str:
        from jinja2 import TemplateError

        try:
            return _compiled(template).render(values)  # type: ignore[no-any-return]
        except TemplateError as error:
            raise JudgeError(f"prompt {self.name!r} cannot be filled in: {error}") from None


def fence(*parts: str) -> str:
    """A word that stands in none of `parts`, and is the same for the same ones.

    It is derived from all of them, so whoever writes one of them cannot foretell it.
    """
    joined = "\x1f".join(parts)
    count = 0
    while True:
        digest = blake2b(f"{count}\x1f{joined}".encode("utf-8", "replace"), digest_size=6)
        if digest.hexdigest() not in joined:
            return digest.hexdigest()
        count += 1


@functools.cache
def shipped() -> dict[str, Prompt]:
    """Every prompt that comes with the package, by name."""
    return {path.stem: load_prompt(path) for path in sorted(FOLDER.glob("*.toml"))}


@functools.lru_cache(maxsize=64)
def load_prompt(path: str | Path) -> Prompt:
    """Read and check a prompt file.

    Raises:
        JudgeError: it cannot be read, lacks something, has something unknown, or a template in it
            is malformed.
    """
    file = Path(path)
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise JudgeError(f"cannot read the prompt {file}: {error}") from None
    sampling = data.pop("sampling", {})
    given = {"name": file.stem, **_DEFAULTS, **data, **sampling}
    given["repair"] = given["repair"] or REPAIRS.get(str(given["parser"]), "")
    kinds = {name: kind for name, (kind, _) in _FIELDS.items()} | {"name": (str,)}
    wrong = [f"{key!r} is unknown" for key in given if key not in kinds]
    wrong += [f"{key!r} is missing" for key in ("summary", "parser", "user") if key not in data]
    wrong += [
        f"{key}={given[key]!r} is not {' or '.join(one.__name__ for one in kind)}"
        for key, kind in kinds.items()
        if key in given and not isinstance(given[key], kind)
    ]
    if not wrong and given["parser"] not in PARSERS:
        wrong.append(f"parser {given['parser']!r} is none of {', '.join(PARSERS)}")
    if wrong:
        raise JudgeError(f"the prompt {file}: {'; '.join(wrong)}")
    prompt = Prompt(**given)
    for where in ("system", "user", "repair"):
        _check_template(file, where, getattr(prompt, where))
    if prompt.schema is not None:
        try:
            json.loads(prompt.schema)
        except ValueError as error:
            raise JudgeError(f"the prompt {file}: its schema is not JSON: {error}") from None
    return prompt


_FIELDS: dict[str, tuple[tuple[type, ...], Any]] = {
    "summary": ((str,), ""),
    "paper": ((str,), ""),
    "citation": ((str,), ""),
    "quoted": ((bool,), False),
    "parser": ((str,), ""),
    "user": ((str,), ""),
    "system": ((str,), ""),
    "repair": ((str,), ""),
    "schema": ((str, type(None)), None),
    "accept_from": ((float,), 0.5),
    "temperature": ((float, int), 0.0),
    "max_tokens": ((int,), 256),
    "logprobs": ((bool,), False),
}
_DEFAULTS = {name: default for name, (_, default) in _FIELDS.items()}


def _check_template(file: Path, where: str, template: str) -> None:
    from jinja2 import TemplateSyntaxError

    try:
        _compiled(template)
    except TemplateSyntaxError as error:
        raise JudgeError(f"the prompt {file}: {where}, line {error.lineno}: {error}") from None
    except RecursionError:
        raise JudgeError(f"the prompt {file}: {where} is nested too deeply") from None


@functools.lru_cache(maxsize=256)
def _compiled(template: str) -> Any:
    return _environment().from_string(template)


@functools.cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    # Prompts are plain text for a model: escaping for HTML would change them.
    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    environment.filters["question_mark"] = question_mark
    return environment


def question_mark(question: str) -> str:
    """A question with a question mark at its end, as Kamalloo et al. ask it."""
    bare = question.rstrip()
    return bare if bare.endswith("?") else f"{bare}?"
