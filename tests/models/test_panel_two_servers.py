"""A panel of two providers in one run: each member at its own address, with its own key."""

from __future__ import annotations

from pathlib import Path

import pytest

import markscheme
from markscheme.models import ModelOptions, Models
from markscheme.testing import FaultServer, ServerReply


def test_two_servers_answer_one_panel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "lab-secret-key")
    monkeypatch.setenv("OTHER_KEY", "other-secret-key")
    yes, no = ServerReply(content="Yes"), ServerReply(content="No")
    with FaultServer([yes]) as lab, FaultServer([no]) as other:
        (tmp_path / "models.toml").write_text(
            f'["lab:"]\nbase_url = "{lab.url}"\nkey_env = "LAB_KEY"\n\n'
            f'["other:"]\nbase_url = "{other.url}"\nkey_env = "OTHER_KEY"\n'
        )
        options = ModelOptions(
            model="lab:m", models=tmp_path / "models.toml", ledger=str(tmp_path / "l.sqlite")
        )
        models = Models(options=options)
        rows = [{"question": f"q{n}", "references": ["Paris"], "answer": "Paris!"}
                for n in range(3)]  # fmt: skip
        panel = "panel(judges=[llm_evouna, llm_kamalloo(model='other:n'), examiner])"
        found = markscheme.judge(rows, panel, models=models).judgments
        models.close()
    assert [one["model"] for one in lab.requests] == ["m"] * 3
    assert [one["model"] for one in other.requests] == ["n"] * 3
    assert {one["authorization"] for one in lab.headers} == {"Bearer lab-secret-key"}
    assert {one["authorization"] for one in other.headers} == {"Bearer other-secret-key"}
    assert found["verdict"].to_list() == [True] * 3
    assert all("2 of 3 accept" in one for one in found["explanation"])
