"""Prompt files as the authors of LINKAGE released them, read as they are.

Their texts are public and have no licence, so none ships here: `markscheme research datasets fetch
linkage-prompts` gets them from the authors. A placeholder such as `{#question}` becomes the text in
braces, as the authors' own code (which replaces `#question`) sends it, and a list of references
becomes `Answer 1:...` and so on, a line each.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

from markscheme.errors import JudgeError
from markscheme.judges.prompted import Prompt

_PLACEHOLDER = re.compile(r"\{?#(\w+)\}?")
_LIST = "{% for reference in references %}Answer {{ loop.index }}:{{ reference }}\n{% endfor %}"
_TEXTS: Mapping[str, str] = {
    "question": "{{ question }}", "candidate": "{{ answer }}", "ground": _LIST,
    "answer_a": "{{ references[0] }}", "answer_b": "{{ references[1] }}",
}  # fmt: skip
_NEEDED: Mapping[str, frozenset[str]] = {
    "rank": frozenset(("question", "ground", "candidate")),
    "pair": frozenset(("question", "answer_a", "answer_b")),
    "ten": frozenset(("question", "candidate")),
}
_ALLOWED = {**_NEEDED, "ten": _NEEDED["ten"] | {"ground"}}
_REPAIRS = {
    "rank": "I could not read a rank in your reply ({{ trouble }}). Reply with one whole number in "
    "double brackets, such as [[2]].",
    "pair": "I could not read a choice in your reply. Reply with [[A]], [[B]], or [[C]] for a tie.",
    "ten": "I could not read a mark in your reply. Reply with one whole number from 0 to 10 in "
    "double brackets, such as [[8]].",
}
MAX_TOKENS = 512
"""As in the authors' code: room for the explanation that comes first."""


@functools.lru_cache(maxsize=16)
def released_prompt(path: str, parser: str) -> Prompt:
    """A released file as a prompt.

    Args:
        path: of the text file.
        parser: `rank`, `pair` or `ten`: what its judge reads.

    Raises:
        JudgeError: it cannot be read, lacks a placeholder that its judge fills in, or has one that
            it does not.
    """
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise JudgeError(
            f"cannot read the prompt {path!r}: {error}; 'markscheme research datasets fetch "
            "linkage-prompts' gets the authors' files"
        ) from None
    found = set(_PLACEHOLDER.findall(text)) & {*_TEXTS, *_braced(text)}
    missing = _NEEDED[parser] - found
    if missing:
        raise JudgeError(
            f"the prompt {path!r} has no {{#{min(missing)}}}, which this judge fills in; it needs "
            f"{', '.join(f'{{#{name}}}' for name in sorted(_NEEDED[parser]))}"
        )
    other = found - _ALLOWED[parser]
    if other:
        raise JudgeError(
            f"the prompt {path!r} has {{#{min(other)}}}, which this judge does not fill in; is it "
            "the prompt of another judge?"
        )
    return Prompt(
        name=Path(path).stem, summary="", paper="", citation="", quoted=True, parser=parser,
        user=_template(text), system="", repair=_REPAIRS[parser], schema=None, accept_from=0.5,
        temperature=0.0, max_tokens=MAX_TOKENS, logprobs=False,
    )  # fmt: skip


def _braced(text: str) -> list[str]:
    return re.findall(r"\{#(\w+)\}", text)


def _template(text: str) -> str:
    """The file as a template; placeholders are filled in all at once, so that none is in a text."""
    parts, at = [], 0
    for found in _PLACEHOLDER.finditer(text):
        if found[1] in _TEXTS:
            opened, closed = found[0].startswith("{"), found[0].endswith("}")
            parts += [_literal(text[at : found.start()] + "{" * opened), _TEXTS[found[1]]]
            parts.append(_literal("}" * closed))
            at = found.end()
    return "".join([*parts, _literal(text[at:])])


def _literal(text: str) -> str:
    """Text that a template shows as it is."""
    quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"{{{{ '{quoted}' }}}}" if text else ""
