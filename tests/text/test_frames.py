"""Frames around answers: what is left is the bare answer, and what must never go stays."""

from __future__ import annotations

import time

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.contract import parse_judge, plain_answers
from markscheme.engine import apply, with_plain
from markscheme.text import may_be_wrapped, unwrapped

FACTS = [
    # question, reference, answer
    ("Which city is the capital of Peru?", "Lima", "Lima"),
    ("Which city is the capital of Chile?", "Santiago", "Valparaíso"),
    ("How many bones does the hand have?", "27", "27 bones"),
    ("How long is the tunnel?", "57 km", "35 km"),
    ("Who painted the ceiling?", "Michelangelo", "Raphael"),
    ("When was the bridge opened?", "12 May 1904", "3 June 1911"),
    ("Is the sea salty?", "Yes", "Yes"),
    ("Did all of them agree to the plan?", "No, two refused.", "No, two of them refused"),
    ("Why do leaves turn yellow?", "Chlorophyll breaks down.", "The green pigment breaks down"),
    ("What does the pump move?", "water", "A mixture of oil, gas and water"),
    ("Who wrote it, and where?", "J. D. Salinger, in Cornish", "J. D. Salinger, in Cornish"),
    ("What is the boiling point?", "78 °C", "about 80 °C"),
]

MARKUP = [
    "```\n{a}\n```",
    "```markdown\n{a}\n```",
    "~~~\n{a}\n~~~",
    "**{a}**",
    "***{a}***",
    "_{a}_",
    "<output>\n{a}\n</output>",
    '<div class="answer"><p>{a}</p></div>',
    "[ANSWER]{a}[/ANSWER]",
    "# {a}",
    "### Final answer\n\n{a}",
    "Result\n------\n{a}",
    "> **{a}**",
    "“{a}”",
    '"{a}"',
    "* {a}",
    '{"response": {"text": "{a}", "lang": "en"}}',
    '[{"answer": "{a}"}]',
    '{"question": "{q}", "prediction": "{a}", "score": 0.91}',
    '```json\n{"final_answer": "{a}"}\n```',
    "{'output': '{a}'}",
    "answer: {a}\nconfidence: 0.8\nsource: doc 4",
    "| Field | Value |\n|:--|:--|\n| Answer | {a} |\n| Confidence | 0.9 |",
    "| Answer |\n|---|\n| {a} |",
    "Field\tValue\nAnswer\t{a}",
    "Question\tAnswer\n{q}\t{a}",
    "\\boxed{{a}}",
    "<|assistant|>{a}<|end|>",
    "{a}\n[END]",
    "{a} </answer>",
    "<answer>{a}</answer><confidence>0.9</confidence>",
]
SPOKEN = [
    "**Final Answer:** {a}",
    "My answer: {a}",
    "The short answer to your question is: {a}",
    "Chatbot: {a}",
    "**Assistant:** {a}",
    "答案：{a}",
    "Q: {q}\nA: {a}",
    'You wanted to know: "{q}"\n\n{a}',
    "**{q}**\n\n{a}",
    "1. Parse the question.\n2. Scan the passages.\n3. Extract the span: the answer is {a}",
    "Step 1 - Understand the question.\nStep 2 - Look it up.\nStep 3 - Therefore: {a}",
    "Hello there, and thank you for your patience.\n\n{a}\n\nWarm regards,\nThe Help Centre",
    "Dear Ms. Novak,\n\nThank you for your enquiry.\n\n{a}\n\nYours faithfully,\nP. Lang",
    "Here you go: {a}",
    "I looked this up for you. {a}",
    "According to the supplied excerpt: {a}",
    "{a}.\n\nIf anything is unclear, just drop me a message.",
    "{a}\n\nShould you require further assistance, please do not hesitate to contact us.",
    "{a}. Happy to go into more depth if you like!",
    "{a}\n\nPlease note that AI-generated answers can contain errors.",
    "Disclaimer: this content is provided for educational purposes. {a}",
    "{a}\n\nThis does not constitute legal advice.",
    "{a}\n\nConfidence level: very high (0.97)",
    "{a} [certainty: 0.88]",
    "{a}\n\n---\nSource: Field Guide, 3rd edition, p. 88",
    "{a}\n\nFurther reading:\n- Introductory reader (2011)\n- Companion volume",
    "{a}\n\nCopyright 2021 Northfield Publishing. All rights reserved.",
    "Ticket 48213 / agent 7\n\n{a}",
    "{a}\n\nGenerated in 2.4 s with 311 tokens",
]


def wrapped(shell: str, question: str, answer: str) -> str:
    return shell.replace("{q}", question).replace("{a}", answer)


def share_bared(shells: list[str]) -> float:
    """Of all facts in all shells, the share of which the bare answer is left."""
    left = [
        unwrapped(wrapped(shell, question, answer), question, [reference]).rstrip(".") == answer
        for question, reference, answer in FACTS
        for shell in shells
    ]
    return sum(left) / len(left)


def test_what_is_left_is_the_bare_answer() -> None:
    # None of these was learned from. What is not recognised stays, and is judged with the answer.
    assert share_bared(MARKUP) >= 0.97
    assert share_bared(SPOKEN) >= 0.75


@pytest.mark.parametrize(
    "shell", ["{a}", "**{a}**", '{"answer": "{a}"}', "Answer: {a}", "{q}\n{a}"]
)
def test_the_commonest_frames_are_always_recognised(shell: str) -> None:
    assert share_bared([shell]) == 1


def test_an_answer_in_markup_is_judged_as_the_bare_one() -> None:
    rows = pl.DataFrame(
        [
            {"question": question, "references": [reference], "answer": text}
            for question, reference, answer in FACTS
            for text in (answer, *(wrapped(shell, question, answer) for shell in MARKUP))
        ]
    )
    judged = apply(parse_judge("exact_match"), plain_answers(with_plain(rows)))["verdict"]
    found = judged.to_numpy().reshape(len(FACTS), -1)
    assert (found == found[:, :1]).mean() >= 0.98


def test_a_verbatim_reference_next_to_boilerplate_is_never_rejected() -> None:
    # With depth=fast one is: "No, two refused. [certainty: 0.88]", of which nothing is taken off.
    rows = pl.DataFrame(
        [
            {"question": question, "references": [reference], "answer": text}
            for question, reference, _ in FACTS
            for text in (wrapped(shell, question, reference) for shell in MARKUP + SPOKEN)
        ]
    )
    judged = apply(parse_judge("examiner"), plain_answers(with_plain(rows)))["verdict"]
    assert rows.filter(~judged)["answer"].to_list() == []


@pytest.mark.parametrize(
    ("answer", "reference", "question"),
    [
        # Markup that the reference has, or the question requests.
        ('{"answer": "Lima"}', '{"answer": "Lima"}', "What does the call return?"),
        ('{"answer": "Lima"}', "Lima", "Give the capital of Peru as JSON."),
        ("| Answer |\n|---|\n| Lima |", "| Answer |", "What does the file look like?"),
        ("`ls -l`", "`ls`", "How do I list files?"),
        ("**Lima**", "**Lima**", "Which city is shown?"),
        ("**Lima**", "Lima", "Write the capital of Peru in bold."),
        ("# Lima", "# Lima", "What is the first line?"),
        ("> Lima", "Lima", "Write Lima as a Markdown quote."),
        ("<b>Lima</b>", "<b>", "How is it marked up?"),
        ("“To be”", "“To be, or not to be”", "How does it begin?"),
        ('"To be"', "To be", "Quote the first words of the speech as a quotation."),
        ("```python\nprint('Lima')\n```", "print it", "How?"),
        ("```\nb = a[1]\n```", "the second element", "Which?"),
        ("[1, 2]", "from 1 to 2", "Where does x lie?"),
        ("[3]", "three", "How many?"),
        ("{1, 2}", "one and two", "Which set is it?"),
        ("- 5", "minus five", "What is 2 less 7?"),
        ("1. May", "4 May", "Which day is it?"),
        # Fields that say something else.
        ('{"answer": "Lima", "country": "Chile"}', "Lima, Chile", "Which?"),
        ('{"wrong_answer": "Lima"}', "Cusco", "Which?"),
        ('{"not": "Lima"}', "Lima", "Which?"),
        ("| City | Country |\n|---|---|\n| Lima | Peru |", "Peru", "Which?"),
        # Yes and no, and what affirms.
        ("Sure! It opens on Sundays.", "yes", "Does it open on Sundays?"),
        ("Of course. It opens then.", "yes", "Does it open on Sundays?"),
        ("Absolutely! Ten of them.", "no", "Are there ten?"),
        ("Yes, Lima.", "Lima", "Is it Lima or Cusco?"),
        # Doubt, contradiction, refusal.
        ("I'm not sure, but Lima.", "Lima", "Which city is it?"),
        ("No information was found. Lima.", "Lima", "Which city is it?"),
        ("Unfortunately I found nothing in the text. Lima.", "Lima", "Which city is it?"),
        ("Lima\n\nConfidence: low", "Lima", "Which city is it?"),
        ("The answer is not Lima.", "Cusco", "Which city is it?"),
        ("Lima. However, you should check the source.", "Lima", "Which city is it?"),
        # A bracket or clause that names another answer.
        ("1991 (official records give 1989 as the true date)", "1991", "When was it signed?"),
        ("Lima (the museum now says Cusco)", "Lima", "Which city is it?"),
        ("1991 (the town archive says 1988)", "1991", "When was it signed?"),
        ("27 (the brochure says 33)", "27", "How many are there?"),
        ("copper [the lab report says zinc]", "copper", "Which metal is it?"),
        ("1066; the chronicle says 1067", "1066", "When was the battle?"),
        # What the question or the reference speaks of.
        ("Lima\nPage 3 of 12", "page 3", "Where is it?"),
        ("Lima\n\nSource: the town archive", "the town archive", "What is the source?"),
        ("Version 3.2\nof the tool", "3.2", "Which version of the tool is it?"),
        ("Dear Sam,\nLima", "Sam", "To whom is the letter?"),
        ("A: Lima", "B", "Which one? (A) Lima (B) Cusco"),
        ("Thank you. Lima", "thank you", "What did she write?"),
        # Several sentences of matter, and what only looks like talk.
        ("He was born in Lima. He moved to Cusco at ten.", "Lima", "Where was he born?"),
        ("It is named in the film You Get Me", "it", "Where is it named?"),
        ("According to Einstein, time is relative.", "it is", "What is time?"),
        ("Lima: the seat of the government", "Lima", "Which one?"),
        ("1. Lima 2. Cusco", "Lima, Cusco", "Name two."),
        ("- Lima\n- Cusco", "Lima, Cusco", "Name two."),
        ("Step 1: Add 20 g.\nStep 2: The answer is 40.", "40", "How many?"),
        # Nothing would be left.
        ("I hope this helps! Let me know.", "Lima", "Which city is it?"),
        ("Answer:", "Lima", "Which city is it?"),
        ("Great question!", "Lima", "Which city is it?"),
        ("{}", "Lima", "Which city is it?"),
        ("   ", "Lima", "Which city is it?"),
    ],
)
def test_what_is_part_of_the_answer_stays(answer: str, reference: str, question: str) -> None:
    assert unwrapped(answer, question, [reference]) == answer


OTHERS = [
    '{"answer": "Quito", "alternatives": ["Lima"]}',
    '{"alternatives": ["Lima"], "answer": "Quito"}',
    "Reasoning: Lima is small.\nFinal answer: Quito",
]


@pytest.mark.parametrize("answer", OTHERS)
def test_what_is_labelled_as_the_answer_is_it_whatever_other_fields_have(answer: str) -> None:
    question = "Which city is the capital?"
    assert unwrapped(answer, question, ["Lima"]) == "Quito"
    # Where the labelled field is a part of the reference, a letter or a yes, the others may be too.
    assert unwrapped(answer, question, ["Quito near Lima"]) == answer
    spelled = '{"answer": "B", "text": "Lima"}'
    assert unwrapped(spelled, "Which city is it? (A) Quito (B) Lima", ["Lima"]) == spelled


def test_an_affirmation_of_the_request_is_none_of_the_answer() -> None:
    question = "Does it open on Sundays?"
    assert unwrapped("Sure! No, it does not.", question, ["no"]) == "No, it does not."
    assert unwrapped("Of course, happy to help. It opens.", question, ["yes"]) == "It opens."


WORDS = st.sampled_from(
    ["Lima", "the", "old", "bridge", "27", "km", "of", "steel", "was", "opened in 1904", "by Cusco"]
)


@given(st.lists(WORDS, min_size=1, max_size=12), st.lists(WORDS, max_size=3))
def test_plain_texts_stay(words: list[str], reference: list[str]) -> None:
    answer = " ".join(words)
    assert unwrapped(answer, "What is it?", [" ".join(reference)]) == answer
    assert not may_be_wrapped(pl.Series([answer]))[0]


PIECES = st.sampled_from([
    "Lima", "27", " ", "\n", "\n\n", ". ", ": ", "**", '"', "`", "```\n", "{", "}", "[", "]", "<b>",
    "</b>", "# ", "> ", "- ", "1. ", "| ", "\t", "Answer", "Sure", "the answer is", "I found it",
    "Which one is it?", "Source", "Would you like more?", "Regards", "(source: 3)", "{\"answer\": ",
    "<|end|>", "no", "not",
])  # fmt: skip


@given(
    st.lists(PIECES, max_size=10), st.sampled_from(["Lima", "27 Answer", "Sure", "no", "{", "x"])
)
def test_no_word_of_a_reference_goes_and_only_hinted_texts_change(
    pieces: list[str], reference: str
) -> None:
    answer = "".join(pieces)
    left = unwrapped(answer, "Which one is it?", [reference])
    assert bool(left.strip()) == bool(answer.strip())
    assert all(word in left for word in reference.split() if word in answer and word != "no")
    assert left == answer or may_be_wrapped(pl.Series([answer]))[0]


SHORT = 2_500


@pytest.mark.parametrize("size", [9_990, 100_000])
@pytest.mark.parametrize(
    "unit",
    [">", "{", "[", "# ", "`", "*", "_", "<a>", '"', "| a ", "1. ", "the ", "Sure! ", "(", "- ",
     "answer: ", "$\\boxed{", "</s>", "a: b\n", "I hope this helps! ", "?", "\n", "...", "final ",
     "Source: x\n", "{'a':", "<!--", "**a** ", "re: ", "“", "the answer "],
)  # fmt: skip
def test_hostile_texts_take_a_time_in_proportion_to_their_length(unit: str, size: int) -> None:
    """Three times as much is what a busy machine is allowed; the square would be 4 and 40 times."""

    def least_seconds(length: int) -> float:
        text = (unit * length)[:length]
        took = []
        for _ in range(3):
            began = time.process_time()
            unwrapped(text, "Which one is it, really?", ["Lima"])
            may_be_wrapped(pl.Series([text]))
            took.append(time.process_time() - began)
        return min(took)

    few = least_seconds(SHORT)
    assert least_seconds(size) < 3 * size / SHORT * few + 0.05
