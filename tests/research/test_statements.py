"""Questions and answers as statements, by rules."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.judges.entailment import statement_maker
from markscheme.judges.entailment.grounding import ungrounded
from markscheme.models import Models
from markscheme.tables import read_answers
from markscheme_research.statements import answers as statements_answers
from markscheme_research.statements import claim_splitting as claims
from markscheme_research.statements import sentence_forms as sentences
from markscheme_research.statements import statement as module
from markscheme_research.statements.sentence_forms import is_sentence
from markscheme_research.statements.statement import statement, statements
from markscheme_research.studies.statement_nearness import corpus_bleu, nearness

# Questions as people type them into a search box, and as they write them; the kinds of
# construction that Natural Questions has most of.
MADE = [
    ("where is fe best absorbed in the body", "in the duodenum",
     "Fe is best absorbed in the body in the duodenum."),
    ("where is the tv show the curse of oak island filmed", "Oak Island",
     "The tv show the curse of oak island is filmed on Oak Island."),
    ("who wrote the first declaration of human rights", "Cyrus",
     "Cyrus wrote the first declaration of human rights."),
    ("when did the dam break", "1923", "The dam broke in 1923."),
    ("When did the old king die?", "22 January 1901", "The old king died on 22 January 1901."),
    ("when was the lighthouse first lit", "In 1811", "The lighthouse was first lit in 1811."),
    ("when does season 3 of the show come out", "May 19, 2017",
     "Season 3 of the show comes out on May 19, 2017."),
    ("when will the bridge be finished", "next spring",
     "The bridge will be finished next spring."),
    ("when is the harvest festival", "the 1920s", "The harvest festival is in the 1920s."),
    ("when did the company start making cars", "15th century",
     "The company started making cars in the 15th century."),
    ("where does the river come from", "the Alps", "The river comes from the Alps."),
    ("where did the settlers go after the war", "Canada",
     "The settlers went after the war to Canada."),
    ("where do the team play", "Wembley Stadium", "The team play at Wembley Stadium."),
    ("Where is the Alhambra?", "Granada, Spain", "The Alhambra is in Granada, Spain."),
    ("who is the owner of the mill", "Anna Holt", "Anna Holt is the owner of the mill."),
    ("who is john snow in the show", "Kit Harington", "John snow in the show is Kit Harington."),
    ("who was elected president in 1928", "Herbert Hoover",
     "Herbert Hoover was elected president in 1928."),
    ("who did carolina lose to in the final", "the Broncos",
     "Carolina lost to the Broncos in the final."),
    ("who does demetrius love in the play", "Helena", "Demetrius loves Helena in the play."),
    ("who does the voice of the fox", "Ann Lee", "Ann Lee does the voice of the fox."),
    ("who was she married to", "Kenny", "She was married to Kenny."),
    ("who plays the twins in the film", "Ann and Bea", "Ann and Bea play the twins in the film."),
    ("what is the capital of peru", "Lima", "The capital of peru is Lima."),
    ("what's the capital of peru", "Lima.", "The capital of peru is Lima."),
    ("what does hp stand for", "horse power", "Hp stands for horse power."),
    ("what is the long box called", "a chest", "The long box is called a chest."),
    ("what is the tool used for", "cutting", "The tool is used for cutting."),
    ("What do you call a baby goat?", "kid", "A baby goat is called kid."),
    ("What colour are emeralds?", "green", "Emeralds are green."),
    ("what type of rock is granite", "igneous", "Granite is igneous."),
    ("What share of a full turn is a right angle?", "one quarter",
     "A right angle is one quarter of a full turn."),
    ("what year did the mill burn down", "1866", "The mill burned down in 1866."),
    ("what kind of plate is nepal on", "a convergent one", "Nepal is on a convergent one."),
    ("what river is associated with rome", "The Tiber", "The Tiber is associated with rome."),
    ("which gas makes up most of the air", "nitrogen", "Nitrogen makes up most of the air."),
    ("Which countries share a border with Luxembourg?", "Belgium",
     "Belgium shares a border with Luxembourg."),
    ("Which metal is liquid at room temperature?", "mercury",
     "Mercury is liquid at room temperature."),
    ("Which language do most people in Brazil speak?", "Portuguese",
     "Most people in Brazil speak Portuguese."),
    ("In which city were the games held?", "Paris", "The games were held in Paris."),
    ("On what date did it make its last flight?", "24 October 2003",
     "It made its last flight on 24 October 2003."),
    ("By whom and in what year was the firm founded?", "Ann Lee, 1975",
     "The firm was founded by Ann Lee, 1975."),
    ("how many strings does a violin have", "four", "A violin has four strings."),
    ("how many strings does a violin have", "four strings", "A violin has four strings."),
    ("how many hours are there in a week", "168", "There are 168 hours in a week."),
    ("how many people live in bonn", "330,000", "330,000 people live in bonn."),
    ("how much money did the film make", "$2.18 billion", "The film made $2.18 billion."),
    ("How long is the pool?", "50 metres", "The pool is 50 metres long."),
    ("how old is the tree", "900", "The tree is 900 years old."),
    ("How fast does light travel?", "299,792,458 m/s", "Light travels at 299,792,458 m/s."),
    ("why was the plague so bad", "poor hygiene", "The plague was so bad because of poor hygiene."),
    ("why does the sky look blue", "They scatter light",
     "The sky looks blue because they scatter light."),
    ("how do vaccines protect people", "by training cells",
     "Vaccines protect people by training cells."),
    ("Is the tomato, botanically speaking, a fruit?", "yes",
     "The tomato, botanically speaking, is a fruit."),
    ("Is voting compulsory in Australia?", "No", "Voting is not compulsory in Australia."),
    ("Do spiders have wings?", "no", "Spiders do not have wings."),
    ("did the ship sink in 1912", "Yes.", "The ship sank in 1912."),
    ("is greenland part of europe or north america", "North America",
     "Greenland is part of North America."),
    ("the capital of france is", "Paris", "The capital of france is Paris."),
    ("he is the king of", "France", "He is the king of France."),
    ("the tissue is called what", "cartilage", "The tissue is called cartilage."),
    ("perth is the capital of which australian state", "Western Australia",
     "Perth is the capital of Western Australia."),
    ("hart season 4 how many episodes", "10", "Hart season 4 has 10 episodes."),
    ("third president of the united states", "Thomas Jefferson",
     "The third president of the united states is Thomas Jefferson."),
    ("actor who played caesar", "Andy Serkis", "Andy Serkis is the actor who played caesar."),
    ("Name one of the moons of Jupiter.", "Io", "Io is one of the moons of Jupiter."),
    ("List the three Baltic states.", "Estonia, Latvia and Lithuania",
     "The three Baltic states are Estonia, Latvia and Lithuania."),
    ("who founded the firm and when was it founded", "Ann Lee", "Ann Lee founded the firm."),
    ("which us president created the corps", "John F. Kennedy",
     "John F. Kennedy created the corps."),
    ("where is the heart kept", "It is kept in a jar.", "It is kept in a jar."),
    ("when did it open", "It was in 1999.", "It opened in 1999."),
    ("who voiced the fox", "Voiced by Ann Lee.", "Ann Lee voiced the fox."),
    ("who voiced the fox in the film", "Fox in the film: Ann Lee.",
     "Ann Lee voiced the fox in the film."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "answer", "wanted"), MADE)
def test_statements_are_as_people_would_say(question: str, answer: str, wanted: str) -> None:
    assert statement(question, answer) == wanted


@pytest.mark.parametrize(
    "answer",
    [
        "Lulu sang the theme song in 1974.",
        "I do not know who it was.",
        "The golfer who has played most is Gary Player, who played 52 times.",
        "It was first filmed in Peru. The crew then went home.",
        "Nodar Kumaritashvili, a Georgian luger, died in July 2010.",
        "The play takes place in the Brewster home, in 1941.",
        "An oak by the old mill is where they met.",
    ],
)
def test_answers_that_are_sentences_are_kept(answer: str) -> None:
    assert is_sentence(answer)
    assert statement("who sang the theme song", answer) == answer


@pytest.mark.parametrize(
    "answer",
    [
        "John F. Kennedy", "P. V. Sindhu", "Paris, which is the capital of France",
        "These Dolls Could Talk", "Blood Is the New Black", "10 May 1940", "in April 2011",
        "September 2, 1945, when Japan formally surrendered", "a film directed by Ann Lee",
        "between 90 and 120 days", "", "   ", "?", "because of the war",
    ],
)  # fmt: skip
def test_names_titles_dates_and_phrases_are_no_sentences(answer: str) -> None:
    assert not is_sentence(answer)


def test_nothing_is_made_of_nothing() -> None:
    assert statement("who was it", "") == ""
    assert statement("who was it", " \n ") == ""
    assert statement("", "Paris") == "Paris."
    assert statement("???", "Paris") == "Paris."


def test_columns_equal_single_calls_and_keep_order_and_nulls() -> None:
    questions = pl.Series([q for q, _, _ in MADE] * 2 + ["who", None])
    answers = pl.Series([a for _, a, _ in MADE] * 2 + [None, "x"])
    made = statements(questions, answers)
    assert made.name == "statement"
    assert made.to_list() == [s for _, _, s in MADE] * 2 + [None, None]
    assert statements(pl.Series([], dtype=pl.String), pl.Series([], dtype=pl.String)).is_empty()


def test_each_question_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = module.parse
    monkeypatch.setattr(module, "parse", lambda text: seen.append(text) or real(text))
    statements(pl.Series(["who a", "who a", "who b"] * 3), pl.Series(["x", "y", "x"] * 3))
    assert seen == ["who a", "who b"]


@given(question=st.text(max_size=60), answer=st.text(max_size=60))
def test_any_text_gives_a_line_that_holds_the_answer_or_nothing(question: str, answer: str) -> None:
    made = statement(question, answer)
    assert "\n" not in made
    assert (made == "") <= (not any(sign.isalnum() for sign in answer))


WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        "who what which when where why how is was did does the a of in to be not and or many much "
        "long name list king film die release played called has there you 1999 Paris it's what's",
    )
)


@given(question=st.lists(WORDS, max_size=9).map(" ".join), answer=st.sampled_from(["Paris", "no"]))
def test_questions_without_sense_are_no_trouble(question: str, answer: str) -> None:
    made = statement(question, answer)
    assert made.endswith(".")
    assert made[:1] == made[:1].upper()


def test_two_question_words_alone_are_a_question() -> None:
    assert statement("How and why?", "Because it rained.") == "Because it rained."


def test_very_long_texts_are_no_trouble() -> None:
    assert len(statement("who " * 100_000, "x " * 500_000)) < 1_100_000
    assert statement("who was it", "word " * 1000).lower().count("word") == 1000


def test_the_gold_statements_of_the_example_are_met(root: Path) -> None:
    lines = (root / "examples" / "statements.jsonl").read_text(encoding="utf-8").splitlines()
    rows = pl.DataFrame([json.loads(line) for line in lines])
    assert rows.height >= 60
    found = nearness(statements(rows["question"], rows["answer"]), rows["statement"])
    assert found.bleu > 0.85
    assert found.rouge1 > 0.96
    assert found.rouge_l > 0.93
    assert found.missing == 0


def test_the_example_asks_its_own_questions(root: Path) -> None:
    def questions(name: str) -> list[str]:
        text = (root / "examples" / name).read_text(encoding="utf-8")
        return list(dict.fromkeys(json.loads(line)["question"] for line in text.splitlines()))

    assert questions("statements.jsonl") == questions("answers.jsonl")


def test_corpus_bleu_is_sacrebleus() -> None:
    import sacrebleu

    texts = [made for _, _, made in MADE]
    gold = [f"{question}, that is {answer}." for question, answer, _ in MADE]
    for some in (slice(0, None), slice(0, 1), slice(4, 6), slice(30, 50)):
        ours = corpus_bleu(pl.Series(texts[some]), pl.Series(gold[some]))
        theirs = sacrebleu.corpus_bleu(texts[some], [gold[some]]).score / 100
        assert ours == pytest.approx(theirs, abs=1e-9)
    for text, other in (("a b", "a b"), ("", "a b c d"), ("a b c d e", "e d c b a"), ("x", "y")):
        ours = corpus_bleu(pl.Series([text]), pl.Series([other]))
        theirs = sacrebleu.corpus_bleu([text], [[other]]).score / 100
        assert ours == pytest.approx(theirs, abs=1e-9)


def test_a_statement_that_was_not_made_scores_nothing() -> None:
    gold = pl.Series(["The cat sat on the mat.", "It is Paris, of course."])
    whole, half = nearness(gold, gold), nearness(pl.Series([gold[0], None]), gold)
    assert (whole.bleu, whole.rouge_l, whole.exact, whole.missing) == (1.0, 1.0, 1.0, 0)
    assert (half.rouge1, half.exact, half.missing, half.pairs) == (0.5, 0.5, 1, 2)
    empty = nearness(pl.Series([], dtype=pl.String), pl.Series([], dtype=pl.String))
    assert (empty.bleu, empty.rouge1, empty.pairs) == (0.0, 0.0, 0)


@pytest.mark.parametrize("source", [module, sentences, statements_answers, claims])
def test_the_examples_in_the_docstrings_hold(source: object) -> None:
    found = doctest.testmod(source)  # type: ignore[arg-type]
    assert found.attempted
    assert not found.failed


def test_real_questions_become_statements(data_dir: Path) -> None:
    rows = json.loads((data_dir / "evouna" / "NQ.json").read_text(encoding="utf-8"))
    pairs = [
        (row["question"], row["golden_answer"].split("/")[0])
        for row in rows
        if not row["improper"] and row["golden_answer"]
    ]
    made = statements(*(pl.Series(side) for side in zip(*pairs, strict=True)))
    assert made.null_count() == 0
    asked = made.str.contains(r"(?i)^(?:who|what|when|where|why|how|did|does|do) ")
    assert asked.mean() < 0.01
    unchanged = sum(one.rstrip(".") == answer for one, (_, answer) in zip(made, pairs, strict=True))
    assert unchanged / len(pairs) < 0.01


def test_the_maker_gives_every_row_its_statement_and_asks_nobody() -> None:
    pairs = pl.DataFrame(
        {
            "question": ["where is fe best absorbed", "who wrote it", "who", None],
            "answer": ["in the duodenum", "Ann", " ", "x"],
        }
    )
    maker = statement_maker("rules")
    made = maker.make(pairs, Models())
    assert made["statement"].to_list() == [
        "Fe is best absorbed in the duodenum.", "Ann wrote it.", None, None,
    ]  # fmt: skip
    assert made["status"].to_list() == ["judged", "judged", "unparsed", "unparsed"]
    assert maker.identity(Models()) == {}
    reversed_ = maker.make(pairs.reverse(), Models())
    assert reversed_["statement"].to_list() == made["statement"].to_list()[::-1]


def test_statements_of_the_rules_carry_their_answers() -> None:
    rows = read_answers("examples/answers.jsonl").explode("references")
    made = statements(rows["question"], rows["references"]).to_list()
    good = [
        (statement, question, reference)
        for statement, question, reference in zip(
            made, rows["question"], rows["references"], strict=True
        )
        if statement
    ]
    refused = [one for one in good if ungrounded(one[0], of=one[2], about=one[1]) is not None]
    assert len(good) > 100
    assert len(refused) <= 0.005 * len(good), refused


def test_questions_and_references_become_statements(example: Path) -> None:
    rows = read_answers(example)
    pairs = zip(rows["question"], rows["references"].list.first(), strict=True)
    questions, references = (pl.Series(side) for side in zip(*sorted(set(pairs)), strict=True))
    made = statements(questions, references)
    assert made.null_count() == 0
    asked = made.str.contains(r"(?i)^(?:who|what|when|where|why|how|did|does|do) ")
    assert asked.mean() < 0.02
    assert (made.str.strip_chars_end(".") == references).mean() < 0.05
