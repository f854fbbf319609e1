"""A long run that left cores idle says how to use them."""

from __future__ import annotations

import pytest

from markscheme.cli.judge import _hint_at_workers


@pytest.mark.parametrize(
    ("seconds", "busy", "cores", "said"),
    [
        (137.0, 1.2, 8, "note: 1.2 of 8 cores were busy for 137 s; --workers 8 uses all of them"),
        (137.0, 1.2, 2, "note: 1.2 of 2 cores"),
        (137.0, 1.8, 2, ""),
        (137.0, 1.0, 1, ""),
        (20.0, 1.1, 8, ""),
    ],
)
def test_hint(
    seconds: float, busy: float, cores: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _hint_at_workers(seconds, busy=busy, cores=cores)
    printed = capsys.readouterr().err
    assert printed.startswith(said)
    assert bool(printed) == bool(said)
