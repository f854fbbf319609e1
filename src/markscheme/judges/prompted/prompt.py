"""Prompts as data: one TOML file each, read, checked, hashed and filled in here.

A file holds `summary`, `paper`, `quoted` (whether the wording is a paper's), `parser`,
`user` (or `messages`, a whole conversation) and, where wanted, `system`, `repair`, `schema`,
`labels`, `criteria`, `references`, `images`, `accept_from` and `[sampling]`. Templates are
Jinja2's, in its sandbox. They may use `question`, `references` (a list), `answer`, `context` (text,
or none), `passages` (the context's paragraphs, a list), `fence` (a word that occurs in none of the
others, the same for the same item) and `examples` (solved items). Any other variable is a column of
the answers. A prompt that does not use `references` needs none, and one that says
`references = "optional"` uses them where they are.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from markscheme.contract import Use, check_range, from_table
from markscheme.errors import JudgeError
from markscheme.judges.prompted.parsers import SCALE, Parser, own_parser

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

FOLDER = Path(__file__).parent / "prompts"

LISTED = ("ten", "pair", "rank")
STAGES = ("statement", "entailment", "steps", "difficulty")
OWN = ("choice", "scale(LOW, HIGH)", "json")
PLAIN = ("yes_no", "yes_no_last", "score", "grade")
PARSERS = (*PLAIN, *LISTED, *STAGES)
"""What a reply is read as; see `markscheme.text.replies`. Those in `OWN` are set up by the prompt,
see `markscheme.judges.prompted.parsers`; those in `LISTED` belong to judges by
graded lists, see `markscheme.judges.listwise`; those in `STAGES` are a stage of a judge that asks
several things (`markscheme.judges.entailment`), whose templates have variables of their own, see
`Prompt.turns`."""

REPAIRS = {
    "yes_no": "I could not read a verdict in your reply. Reply with one word: Yes or No.",
    "score": "I could not read a mark in your reply. Reply with one number from 1 to 5.",
    "grade": (
        "I could not read your reply as the JSON object that was asked for: {{ trouble }}. Reply "
        "with that object and nothing else."
    ),
}


_NONE: Mapping[str, str | None] = {}
_LATER = ("labels", "criteria", "references", "context", "swap", "conversation", "images")
"""Fields that are no part of the hash of prompts without them."""
VARIABLES = ("question", "references", "answer", "context", "passages", "fence", "examples")
"""What every template may use; other variables are columns of the answers."""

REPAIRS["yes_no_last"] = REPAIRS["yes_no"]


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A prompt with all that decides what a model is sent and how its reply is read.

    Attributes:
        name: its file's name without the ending.
        summary: one sentence for lists of judges.
        paper: where it comes from; says so where the wording is ours.
        quoted: whether the wording is as a paper prints it.
        parser: one of `PARSERS`.
        system, user: templates; no system message where empty.
        conversation: in their place, messages with `role` (`system`, `user`, `assistant`) and
            `content`, each a template, the last one the user's; a file calls it `messages`.
        repair: template of the one further message where a reply cannot be read.
        schema: JSON schema for servers that can keep to one.
        accept_from: score from which an answer is accepted, for parsers without a verdict.
        temperature, max_tokens, logprobs: sampling.
        labels: of the parser `choice`, with their scores from 0 to 1.
        criteria: of the parser `json`.
        references: whether an item must have them; "" takes it from the templates.
        context: `required` skips items without one.
        swap: two variables that are exchanged in a second call, whose score is reversed.
        images: columns of images, which are sent before the last message's text.
    """

    name: str
    summary: str
    parser: str
    user: str = ""
    system: str = ""
    repair: str = ""
    paper: str = ""
    quoted: bool = False
    schema: str | None = None
    accept_from: float = 0.5
    temperature: float = 0.0
    max_tokens: int = 256
    logprobs: bool = False
    labels: Mapping[str, Any] | None = None
    criteria: Mapping[str, Any] | None = None
    references: Literal["", "required", "optional"] = ""
    context: Literal["", "required", "optional"] = ""
    swap: tuple[str, ...] = ()
    conversation: tuple[Mapping[str, Any], ...] = ()
    images: tuple[str, ...] = ()

    @functools.cached_property
    def reader(self) -> Parser | None:
        """The parser that the prompt sets up; None if it names one of `PARSERS`."""
        return own_parser(self.parser, self.labels, self.criteria)

    @functools.cached_property
    def variables(self) -> frozenset[str]:
        """What the templates use."""
        from jinja2 import meta

        parsed = (_environment().parse(text) for _, text in self._templates())
        return frozenset(name for tree in parsed for name in meta.find_undeclared_variables(tree))

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the user's own that the templates use, sorted."""
        if self.parser in STAGES:
            return ()
        return tuple(sorted(self.variables - set(VARIABLES)))

    @property
    def needs_references(self) -> Use:
        """Whether an item must have references."""
        if self.references:
            return "optional" if self.references == "optional" else "required"
        return "required" if "references" in self.variables else "unused"

    @functools.cached_property
    def hash(self) -> str:
        """Sixteen hex digits over everything that can change a judgment; for signatures."""
        decisive = {
            key: value
            for key, value in asdict(self).items()
            if key not in ("name", "summary", "paper", "quoted")
            and not (key in _LATER and not value)
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
        own: Mapping[str, str | None] = _NONE,
    ) -> tuple[tuple[str, str], ...]:
        """The conversation to open with, as pairs of role and text.

        Raises:
            JudgeError: a template names a variable that does not exist.
        """
        texts = (own[name] or "" for name in sorted(own))
        values = {
            "question": question,
            "references": list(references),
            "answer": answer,
            "context": context,
            "passages": [one.strip() for one in (context or "").split("\n\n") if one.strip()],
            "examples": list(examples),
            "fence": fence(question, *references, answer, context or "", *texts),
            **own,
        }
        return self.turns(values)

    def turns(self, values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """The conversation to open with, as pairs of role and text, from any variables.

        Raises:
            JudgeError: a template names a variable that is not among `values`.
        """
        return tuple((role, self._filled(text, values)) for role, text in self._templates())

    def _templates(self) -> Sequence[tuple[str, str]]:
        """Role and template of every turn."""
        if self.conversation:
            return [(one["role"], one["content"]) for one in self.conversation]
        return [(r, text) for r, text in (("system", self.system), ("user", self.user)) if text]

    def repair_message(self, trouble: str) -> str:
        """What to say to a model whose reply could not be read, and why it could not."""
        return self._filled(self.repair, {"trouble": trouble})

    def _filled(self, template: str, values: Mapping[str, Any]) -> str:
        from jinja2 import TemplateError

        try:
            return _compiled(template).render(values)  # type: ignore[no-any-return]
        except (
            TemplateError,
            ArithmeticError,
            AttributeError,
            LookupError,
            MemoryError,
            RecursionError,
            TypeError,
            ValueError,
        ) as error:  # What an expression in a template may raise.
            why = str(error) or type(error).__name__
            raise JudgeError(f"prompt {self.name!r} cannot be filled in: {why}") from None


def fence(*parts: str) -> str:
    """A word that occurs in none of `parts`, and is the same for the same ones.

    It is derived from all of them, so the author of one of them cannot predict it.
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


def load_prompt(path: str | Path) -> Prompt:
    """Read and check a prompt file.

    Raises:
        UnknownNameError: it has a field that there is not.
        JudgeError: it cannot be read, lacks something, or a template in it is malformed.
    """
    file = Path(path)
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise JudgeError(f"cannot read the prompt {file}: {error}") from None
    where = f"the prompt {file}"
    sampling = data.pop("sampling") if isinstance(data.get("sampling"), Mapping) else {}
    if "messages" in data:
        data["conversation"] = data.pop("messages")
    # A citation is for people; nothing shows it.
    prompt = from_table(Prompt, {**data, **sampling}, where, also=("citation",), name=file.stem)
    prompt = replace(prompt, repair=prompt.repair or _repair(prompt))
    wrong = _conversation_problems(prompt) or _parser_problems(prompt, ours=file.parent == FOLDER)
    if wrong:
        raise JudgeError(f"{where}: {wrong}")
    try:
        check_range("accept_from", prompt.accept_from, 0, 1)  # whatever the scale of the replies
        check_range("temperature", prompt.temperature, 0, 5)
        check_range("max_tokens", prompt.max_tokens, 1)
    except JudgeError as error:
        raise JudgeError(f"{where}: {error}") from None
    for field in ("system", "user", "repair"):
        _check_template(file, field, getattr(prompt, field))
    for number, message in enumerate(prompt.conversation, 1):
        _check_template(file, f"message {number}", message["content"])
    texts = prompt.variables & {"question", "answer", "context", *prompt.columns}
    other = [one for one in prompt.swap if one not in texts]
    if other:
        raise JudgeError(
            f"{where}: swap names {other[0]!r}, which no template uses as a text; of texts they "
            f"use {', '.join(sorted(texts)) or 'none'}"
        )
    if prompt.schema is not None:
        try:
            json.loads(prompt.schema)
        except ValueError as error:
            raise JudgeError(f"{where}: its schema is not JSON: {error}") from None
    return prompt


def _parser_problems(prompt: Prompt, *, ours: bool) -> str:
    """What is wrong with a prompt's parser and what belongs to it; "" where nothing is."""
    parser, swap = prompt.parser, prompt.swap
    try:
        own = prompt.reader
    except ValueError as error:
        return str(error)
    if own is None and parser not in (PARSERS if ours else PLAIN):
        return f"parser {parser!r} is none of {', '.join((*PLAIN, *OWN))}" + (
            "; it belongs to another kind of judge" if parser in PARSERS else ""
        )
    if "" in prompt.images:
        return f"images={list(prompt.images)!r} must name columns, as in ['chart']"
    if swap and len(swap) != 2:
        return f"swap={list(swap)!r} must name two variables, as in ['answer', 'other_answer']"
    return ""


_ROLES = ("system", "user", "assistant")


def _conversation_problems(prompt: Prompt) -> str:
    """What is wrong with a prompt's turns; "" where nothing is."""
    messages = prompt.conversation
    if not messages:
        return "" if prompt.user else "'user' is missing, the template of what a model is sent"
    also = next((name for name in ("system", "user") if getattr(prompt, name)), None)
    if also:
        return f"it has messages and {also!r}; write {also!r} as one of the messages"
    for number, one in enumerate(messages, 1):
        texts = all(isinstance(value, str) and value for value in one.values())
        if set(one) != {"role", "content"} or not texts:
            return f"message {number} must have role and content, both texts, not {one!r}"
        if one["role"] not in _ROLES:
            return f"message {number}: role {one['role']!r} is none of {', '.join(_ROLES)}"
    if messages[-1]["role"] != "user":
        return "the last of the messages must be the user's, which the model replies to"
    return ""


def _repair(prompt: Prompt) -> str:
    """What to say to a reply that cannot be read, where the prompt says nothing itself."""
    scale = SCALE.fullmatch(prompt.parser.strip())
    if scale:
        return (
            "I could not read a mark in your reply. Reply with one number from "
            f"{scale[1]} to {scale[2]}."
        )
    if prompt.parser == "choice" and prompt.labels is not None:
        labels = ", ".join(prompt.labels)
        return f"I could not read your reply. Reply with one of these and nothing else: {labels}."
    return REPAIRS.get("grade" if prompt.parser == "json" else prompt.parser, "")


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
    environment = SandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        finalize=lambda value: "" if value is None else value,  # Context that a row lacks.
    )
    environment.filters["question_mark"] = question_mark
    return environment


def question_mark(question: str) -> str:
    """A question with a question mark at its end, as Kamalloo et al. ask it."""
    bare = question.rstrip()
    return bare if bare.endswith("?") else f"{bare}?"
