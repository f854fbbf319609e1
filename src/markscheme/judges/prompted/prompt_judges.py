"""The prompted judges: one for each file in `prompts/`, and one for any prompt file of a user's.

A new file in that folder is a new judge; nothing needs to be written here, unless its judge has a
parameter of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markscheme.contract import register
from markscheme.judges.prompted.examples import read_examples
from markscheme.judges.prompted.prompt import LISTED, STAGES, Prompt, load_prompt, shipped
from markscheme.judges.prompted.prompted import NEEDS, Prompted


@register(
    "llm_prompt",
    paper="whatever the file says",
    needs=NEEDS,
    example="llm_prompt(prompt='my_prompt.toml')",
)
@dataclass(frozen=True, kw_only=True)
class LlmPrompt(Prompted):
    """A model judges by a prompt file of your own.

    `prompt` is the path of a TOML file like those that ship with markscheme.
    """

    prompt: str

    @functools.cached_property
    def template(self) -> Prompt:
        """The prompt in the user's file, read once a judge: a run has one prompt, also where the
        file is edited meanwhile."""
        return load_prompt(self.prompt)


@register(
    "llm_evouna_icl",
    paper=shipped()["llm_evouna_icl"].paper,
    needs=NEEDS,
    example="llm_evouna_icl(examples='examples.jsonl')",
)
@dataclass(frozen=True, kw_only=True)
class LlmEvounaIcl(Prompted):
    """EVOUNA's prompt with solved examples from other data, chosen by k-means over its questions.

    `examples` is a file that `markscheme research examples` made from labelled answers of another
    dataset. A question that is judged and also an example is an error.
    """

    PROMPT = "llm_evouna_icl"

    examples: str

    @functools.cached_property
    def _solved(self) -> Sequence[Mapping[str, Any]]:
        return read_examples(self.examples)


_QUOTED = "\n\nThe wording is the paper's, to the letter."


def _judge_of(prompt: Prompt) -> type[Prompted]:
    """The judge of a prompt that ships, as a class of this module."""
    name = prompt.name.title().replace("_", "")
    body = {
        "__doc__": prompt.summary + (_QUOTED if prompt.quoted else ""),
        "__module__": __name__,
        "PROMPT": prompt.name,
    }
    cls: type[Prompted] = dataclass(frozen=True, kw_only=True)(type(name, (Prompted,), body))
    return register(prompt.name, paper=prompt.paper, needs=NEEDS)(cls)


for _prompt in shipped().values():
    if _prompt.name != LlmEvounaIcl.PROMPT and _prompt.parser not in (*LISTED, *STAGES):
        _cls = _judge_of(_prompt)
        globals()[_cls.__name__] = _cls
