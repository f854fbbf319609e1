"""Near copies differ from what they copy, carry its label, and are the same each time."""

from __future__ import annotations

import polars as pl
from recipes.near_copies import near_copies

ROWS = pl.DataFrame(
    {
        "question": ["What must a tenant do?"] * 3 + ["Which flag?"],
        "references": [["The tenant must notify the landlord at once."]] * 3
        + [["--hard now then"]],
        "answer": [
            "They have to tell the owner about it immediately.",
            "The landlord must notify the tenant at once.",
            "no",
            "--soft now then",
        ],
        "label": [1.0, 0.0, 0.0, 0.0],
        "kind": ["role_order"] * 3 + ["code_command"],
    }
)


def test_copies_keep_the_label_of_what_they_copy() -> None:
    seen: dict[str, float] = {}
    for seed in range(40):
        copies = near_copies(ROWS, seed=seed)
        assert copies.schema == ROWS.schema
        assert copies.equals(near_copies(ROWS, seed=seed))
        assert set(copies["question"]) <= {"What must a tenant do?"}
        seen |= dict(zip(copies["answer"], copies["label"], strict=True))
    assert not set(seen) & {*ROWS["answer"], ROWS["references"][0][0]}
    assert seen["The tenant has to notify the landlord at once."] == 1
    assert seen["The landlord has to notify the tenant immediately."] == 0
    wrong = [text for text, label in seen.items() if label == 0]
    assert all("landlord" in text.lower().split("notify")[0] for text in wrong)
