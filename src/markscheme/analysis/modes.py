"""The failure modes of exact match (Kamalloo et al. 2023, section 5), and their groups."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Mode:
    """One way for exact match to reject an answer that people accept.

    Attributes:
        group: the bar of the paper's Figure 3 it belongs to.
        meaning: what the answer and the reference differ in.
        paper: the group's or mode's share in percent as section 5.1 prints it; None if not there.
    """

    group: str
    meaning: str
    paper: float | None = None


SEMANTIC = "semantic equivalence"
SYMBOLIC = "symbolic equivalence"
GRANULARITY = "granularity discrepancy"
LISTS = "list-style question"
AMBIGUITY = "ambiguous question"
INCORRECT = "incorrect reference"
UNSURE = "unsure"

MODES: dict[str, Mode] = {
    "multinominal_entity": Mode(
        group=SEMANTIC, meaning="another name of the same entity", paper=9.3
    ),
    "synonym": Mode(group=SEMANTIC, meaning="other words for the same"),
    "more_elaborate": Mode(group=SEMANTIC, meaning="the same at greater length"),
    "em_in_explanatory": Mode(
        group=SEMANTIC, meaning="the reference, word for word, inside a longer answer", paper=10.1
    ),
    "bridging_abridging": Mode(
        group=SEMANTIC, meaning="a word or a few added or dropped", paper=11.4
    ),
    "tokenization": Mode(group=SEMANTIC, meaning="hyphens, spaces, accents or other marks"),
    "symbolic_equivalence": Mode(
        group=SYMBOLIC, meaning="how a number, quantity or date is written, or its rounding"
    ),
    "temporal_granularity": Mode(group=GRANULARITY, meaning="how fine a time is given"),
    "spatial_granularity": Mode(group=GRANULARITY, meaning="how fine a place is given"),
    "list_question": Mode(group=LISTS, meaning="which members of a list, or their order"),
    "open_ended_question": Mode(group=LISTS, meaning="which of many right answers is named"),
    "compound_question": Mode(
        group=LISTS, meaning="how the parts of a question of several parts are put"
    ),
    "ambiguity": Mode(group=AMBIGUITY, meaning="which reading of the question is answered"),
    "incorrect_reference": Mode(group=INCORRECT, meaning="nothing: the reference is wrong"),
    UNSURE: Mode(group=UNSURE, meaning="no rule fits"),
}
"""Every mode, in the paper's order; names as the bundled example has them."""

GROUPS: dict[str, float | None] = {
    SEMANTIC: 50.3,
    SYMBOLIC: None,
    AMBIGUITY: None,
    GRANULARITY: 15.0,
    LISTS: 20.6,
    INCORRECT: None,
    UNSURE: None,
}
"""The groups in Figure 3's order, with its percentages as section 5.1 prints them.

The text also gives 14% for data quality: ambiguous questions and incorrect references together.
"""
