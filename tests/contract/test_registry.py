"""What is known of judges without asking them anything."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.contract import registry
from markscheme.contract.grammar import judge_name, parse_judge
from markscheme.contract.registry import asks_chat, parts
from markscheme.errors import JudgeError, UnknownNameError
from with_research import needs_research


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("examiner", False),
        pytest.param("claims", False, marks=needs_research),
        pytest.param("claims(test=chat)", True, marks=needs_research),
        pytest.param("claims(statements='chat:other')", True, marks=needs_research),
        ("entailment", False),
        ("entailment(statements=chat)", True),
        ("llm_kamalloo", True),
        ("cascade(first=examiner, then=llm_kamalloo)", True),
        ("cascade(first=token_f1, then=contains)", False),
        ("panel(judges=(examiner, cascade(first=token_f1, then=pairwise)))", True),
    ],
)
def test_who_asks_a_chat_model_is_known_beforehand(name: str, asks: bool) -> None:
    assert asks_chat(parse_judge(name)) is asks


def test_parts_are_the_judge_and_those_inside_it_at_any_depth() -> None:
    nested = "panel(judges=(exact_match, cascade(first=token_f1, then=contains)))"
    names = [judge_name(part).partition("(")[0] for part in parts(parse_judge(nested))]
    assert names == ["panel", "exact_match", "cascade", "token_f1", "contains"]


def test_a_method_that_cannot_be_called_with_answers_and_models_is_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Forgetful:
        """Has no models."""

        def judge(self, answers: pl.DataFrame) -> pl.DataFrame:
            return answers

    with pytest.raises(JudgeError, match=r"write def judge\(self, answers, models\)"):
        markscheme.register("forgetful")(Forgetful)
    assert "forgetful" not in registry.judges()


def test_an_exception_inside_a_judge_names_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.JUDGES, "known", registry.judges())

    @markscheme.register("raises_inside")
    @dataclass(frozen=True, kw_only=True)
    class Raises:
        """Raises."""

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            raise ValueError("my own bug")

    row = {"question": "q", "references": ["r"], "answer": "a"}
    with pytest.raises(ValueError, match="my own bug") as caught:
        markscheme.judge([row], Raises())
    (note,) = caught.value.__notes__
    assert note.startswith(f"raised by the judge raises_inside (answers: 1) in {__file__}, line ")


def _in_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_a_judge_is_found_by_its_name_without_importing_the_others() -> None:
    for name in ("exact_match", "regex", "token_f1(threshold=0.6)"):
        printed = _in_new_process(
            "import sys; from markscheme.contract import parse_judge, judge_name, needs_of\n"
            f"judge = parse_judge({name!r}); needs_of(judge); print(judge_name(judge))\n"
            "print(*(m for m in sys.modules if m.startswith('markscheme.judges.')))"
        )
        shown, modules = printed.splitlines()
        assert shown == name
        assert "lexical" in modules
        assert not {"examiner", "entailment", "prompted"} & set(modules.replace(".", " ").split())


def test_the_table_of_our_judges_names_the_module_of_each() -> None:
    listed = registry.shipped_names()
    ours = {
        name: entry.judge.__module__ for name, entry in registry.judges().items()
        if entry.judge.__module__.startswith("markscheme.")
    }  # fmt: skip
    assert {name: listed.get(name) for name in ours} == ours


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each module is tried in a forked process")
def test_every_judge_is_found_by_its_name_alone() -> None:
    """Each module of judges in a process that has loaded no other."""
    by_module: dict[str, list[str]] = {}
    for name in sorted(registry.judges()):
        by_module.setdefault(registry.shipped_names().get(name, ""), []).append(name)
    by_module.pop("", None)  # judges that other tests registered
    assert len(by_module) > 10
    code = (
        "import os\n"
        "from markscheme.contract import entry, registry\n"
        "registry.load_all = None  # which would find any\n"
        f"for module, names in {by_module!r}.items():\n"
        "    if os.fork() == 0:\n"
        "        found = [entry(name).name for name in names]\n"
        "        os._exit(0 if found == names else 1)\n"
        "    if os.wait()[1]:\n"
        "        print(module)\n"
    )
    assert _in_new_process(code) == ""


def test_no_plugin_can_take_the_name_of_a_judge_of_ours_by_being_first() -> None:
    code = (
        "from dataclasses import dataclass\n"
        "import markscheme\n"
        "from markscheme.errors import JudgeError\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Other:\n"
        "    def judge(self, answers, models): return answers\n"
        "try:\n"
        "    markscheme.register('bleu')(Other)\n"
        "except JudgeError as error:\n"
        "    print(error)\n"
    )
    assert "taken by Bleu of markscheme.judges.lexical.overlap" in _in_new_process(code)


def test_a_name_that_nothing_has_is_named_with_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'examiner'"):
        parse_judge("exmaminer")
