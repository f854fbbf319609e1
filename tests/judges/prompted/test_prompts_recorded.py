"""Prompts in a paper's wording stay to the letter what was compared with the paper's text.

The comparison itself wants the papers' texts (marker `needs_data`); here are the hashes of what
passed it, over wording, sampling and reader. A new hash must pass that comparison first.
"""

from __future__ import annotations

from markscheme.judges.prompted.prompt import shipped

COMPARED = {
    "entailment_yao": "567316b9790221bc",
    "inference_difficulty_yao": "3bd2a6b1d8097d4d",
    "inference_yao": "caf1874eb3ed9928",
    "llm_evouna": "7d6a7f9484abf2ac",
    "llm_kamalloo": "bd98ad4140d057df",
    "llm_score": "d12de7a5d807b230",
    "statement_yao": "3480e8f5789a8742",
}


def test_wordings_that_were_compared_with_the_papers_are_unchanged() -> None:
    found = {name: prompt.hash for name, prompt in shipped().items() if name in COMPARED}
    assert found == COMPARED


def test_every_quoted_prompt_is_recorded() -> None:
    assert {name for name, prompt in shipped().items() if prompt.quoted} <= set(COMPARED)
