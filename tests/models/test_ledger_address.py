"""The ledger tells servers apart: the same model's name at another address is another model."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.models.chat.profiles import model_table
from markscheme.testing import FaultServer, ServerReply

ROWS = [{"question": f"q{n}", "references": ["Paris"], "answer": "Paris!"} for n in range(3)]


def verdicts(ledger: Path, url: str, *, replay: bool = False) -> list[bool | None]:
    options = ModelOptions(
        model="m",
        ledger=str(ledger),
        replay=replay,
        server=ServerOptions(base_url=url, retries=0),
    )
    models = Models(options=options)
    try:
        found = markscheme.judge(ROWS, "llm_evouna", models=models).judgments
    finally:
        models.close()
    return found["verdict"].to_list()


def test_another_server_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-mine")
    ledger = tmp_path / "l.sqlite"
    with (
        FaultServer([ServerReply(content="Yes")]) as one,
        FaultServer([ServerReply(content="No")]) as two,
    ):
        assert verdicts(ledger, one.url) == [True] * 3
        assert verdicts(ledger, two.url) == [False] * 3
        assert verdicts(ledger, one.url + "/") == [True] * 3
        assert verdicts(ledger, two.url, replay=True) == [False] * 3
        assert (len(one.requests), len(two.requests)) == (3, 3)
    assert b"secret-of-mine" not in ledger.read_bytes()


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("gpt-4o-mini", None),
        ("gpt-4o-mini", "https://api.openai.com/v1"),
        ("gpt-4o-mini", "https://API.openai.com:443/v1/"),
        ("anthropic:claude-haiku-4-5", None),
    ],
)
def test_the_address_of_the_model_files_is_no_part_of_the_key(
    model: str, address: str | None
) -> None:
    profile = model_table().profile(model, ServerOptions(base_url=address))
    assert "at=" not in profile.settings()


def test_the_key_has_the_address_without_what_may_be_secret() -> None:
    url = "http://LocalHost/v1/?key=secret"
    settings = model_table().profile("m", ServerOptions(base_url=url)).settings()
    assert settings == "at=http://localhost:80/v1"
    ports = {
        model_table().profile("m", ServerOptions(base_url=f"http://[::1]:{n}/v1")).settings()
        for n in (1, 2)
    }
    assert ports == {"at=http://[::1]:1/v1", "at=http://[::1]:2/v1"}


def test_a_dry_run_says_how_an_unpriced_model_counts(tmp_path: Path) -> None:
    from markscheme.analysis.call_plans import plan_calls
    from markscheme.contract import parse_judge
    from markscheme.tables import AnswersReader

    options = ModelOptions(model="toy", ledger=str(tmp_path / "l.sqlite"))
    reader = AnswersReader([pl.DataFrame(ROWS)])
    plan = plan_calls(reader, [parse_judge("llm_evouna")], options)
    (note,) = (one for one in plan.notes if "price" in one)
    assert "--max-cost assumes the highest price" in note
    assert '["toy"] with input = 0 and output = 0' in note
