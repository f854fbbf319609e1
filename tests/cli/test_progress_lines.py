"""Progress where there is no terminal: lines now and then, the time at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from markscheme.cli import progress_bar as module
from markscheme.cli import run
from markscheme.cli.progress_bar import progress


class Clock:
    """A clock that the test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_long_job_in_a_pipe_says_how_far_it_is_and_how_long_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock)
    with progress("judging", total=1000) as advance:
        for clock.now in range(0, 100):
            advance(5)
            advance.note(f"{clock.now} calls")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "judging: 55 of 1,000 judgments, 6 per second, about 0:02:52 left, 9 calls",
        "judging: 355 of 1,000 judgments, 5 per second, about 0:02:07 left, 69 calls",
        "judging: 500 judgments in 0:01:39, 99 calls",
    ]


def test_a_short_job_in_a_pipe_leaves_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("judging", total=None) as advance:
        advance(3)
    assert capsys.readouterr().err == "judging: 3 judgments in 0:00:00\n"


def test_a_name_that_is_nearly_right_is_named_and_nothing_else_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers.jsonl").write_text('{"question": "q", "references": ["a"], "answer": "a"}\n')
    assert run(["judge", "answer.jsonl", "-o", "run"]) == 2
    assert capsys.readouterr().err == (
        "error: cannot read answer.jsonl: No such file or directory; "
        "did you mean 'answers.jsonl'?\n"
    )
