"""A shell for the commands of documents: everything runs for real, on this machine alone.

A `markscheme` command runs in this process, which is quick; `serve` and `annotate` in a process of
their own until the next of them or the end of the page, when they must stop in good order; all else
by bash, with what is exported and assigned kept for later commands. What lies elsewhere in the
documents (a language model, a database, a store, a cluster) runs on loopback while a page names it:
see `documents_servers`. Addresses on the page are replaced by those.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Self

from typer.main import get_command

from documents_files import make_missing
from documents_servers import ELSEWHERE, OURS, ChatModel, Serving
from markscheme.cli import load_commands, run
from markscheme.cli.app import app
from markscheme.cli.dispatch import spelled_now

BASH = "set -euo pipefail; set -a\n{typed}\nset +x; env -0 > {folder}/environment"
SHELLS_OWN = {"_", "SHLVL", "PWD", "OLDPWD", "BASHOPTS", "SHELLOPTS"}


def unfinished(typed: str) -> bool:
    """Whether a quotation mark is still open."""
    try:
        shlex.split(typed, comments=True)
    except ValueError:
        return True
    return False


def words_of(typed: str) -> list[str]:
    """The words of a command, without its comment."""
    return shlex.split(typed.replace("\\\n", " "), comments=True)


def options_of(words: list[str]) -> tuple[str, set[str]]:
    """The name of the command that words after `markscheme` call, and the options it knows."""
    load_commands()
    found: Any = get_command(app)
    for word in spelled_now(words):
        if word not in getattr(found, "commands", {}):
            break
        found = found.commands[word]
    return found.name, {name for one in found.params for name in (*one.opts, *one.secondary_opts)}


class Shell:
    """Runs the commands of one page, in order.

    Attributes:
        names: the namespace of the page's python blocks.
        printed: lines that the latest of them printed.
    """

    def __init__(self, page: str) -> None:
        """A shell for what is to run of a page."""
        self._page = page
        module = types.ModuleType("page")
        sys.modules["page"] = module  # classes of a page have a module, as in a notebook
        self.names: dict[str, object] = module.__dict__
        self.printed: list[str] = []
        self._open = contextlib.ExitStack()
        self._chat: ChatModel | None = None
        self._serving: Serving | None = None

    def __enter__(self) -> Self:
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        os.environ |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        Path(".curlrc").write_text("fail-with-body\nshow-error\n", "utf-8")
        os.environ["CURL_HOME"] = str(Path.cwd())
        for pattern, begin in ELSEWHERE.items():
            if re.search(pattern, self._page):
                self._open.enter_context(begin())
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._stop(checked=error[0] is None)
        finally:
            self._open.close()

    def run(self, typed: str, place: str) -> list[str]:
        """The lines that a command prints, without spaces at their ends.

        Raises:
            AssertionError: it does not end with the code that it should (`# exits with 1`).
        """
        typed = self.here(typed)
        words = words_of(typed)
        if words[:2] in (["markscheme", "serve"], ["markscheme", "annotate"]):
            self._stop()
            self._serving = Serving(words[1:])
            return []
        if words[:2] == ["markscheme", "annotate-export"] and self._serving is not None:
            self._serving.label_everything()
        both = "2>&1" in words
        if words[0] == "markscheme":
            code, out, err = self._ours([word for word in words[1:] if word != "2>&1"], both=both)
        else:
            code, out, err = self._bash(typed)
        named = re.search(r"# exits with (\d+)$", typed)
        wanted = int(named[1]) if named else 0
        assert code == wanted, f"{place}: {typed}\nends with {code}: {err}\n{out}"
        return [line.rstrip() for line in out.strip("\n").splitlines()]

    def here(self, text: str) -> str:
        """Make the files that a text names, and put in the addresses of this machine."""
        if re.search(r"--base-url|base_url=|openai/", text):
            text = re.sub(r"http://localhost:8000/v1", self.chat.url, text)
            os.environ["OPENAI_BASE_URL"] = self.chat.url  # what other tools look for
        make_missing(text, lambda: self.chat)
        return OURS.sub(self._serving.address, text) if self._serving else text

    def write(self, name: str, text: str) -> None:
        """Write a block to the file that it names."""
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(self.here(text), "utf-8")

    def steps(self, text: str, place: str) -> None:
        """Run the steps of a GitHub workflow, but for others' actions."""
        import yaml

        os.environ["GITHUB_STEP_SUMMARY"] = str(Path("step-summary.md").resolve())
        (job,) = yaml.safe_load(text)["jobs"].values()
        for step in job["steps"]:
            if "run" in step:
                self.run(step["run"], place)

    @property
    def chat(self) -> ChatModel:
        """A language model on loopback, started when first wanted."""
        if self._chat is None:
            self._chat = self._open.enter_context(ChatModel())
        return self._chat

    def _ours(self, words: list[str], *, both: bool) -> tuple[int, str, str]:
        name, known = options_of(words)
        if {"--model", "-m"} & set(words) and "--base-url" in known and "--base-url" not in words:
            words = [*words, "--base-url", self.chat.url]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out if both else err):
            code = run(words)
        if name == "judge":
            lost = re.search(r"\b\d+ (failed|unparsed|refused)\b", out.getvalue())
            assert not lost, f"{lost}: {out.getvalue()}"
        return code, out.getvalue(), err.getvalue()

    def _bash(self, typed: str) -> tuple[int, str, str]:
        folder = Path("build").resolve()
        done = subprocess.run(
            ["bash", "-c", BASH.format(typed=typed, folder=shlex.quote(str(folder)))],
            capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        if done.returncode == 0:
            kept = (folder / "environment").read_text("utf-8").split("\0")
            pairs = dict(one.split("=", 1) for one in kept if "=" in one)
            os.environ.update({k: v for k, v in pairs.items() if k not in SHELLS_OWN})
        return done.returncode, done.stdout, done.stderr

    def _stop(self, *, checked: bool = True) -> None:
        """Stop the server of ours that runs, if any."""
        serving, self._serving = self._serving, None
        if serving is not None:
            serving.stop(checked=checked)
