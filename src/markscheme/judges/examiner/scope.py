# ruff: noqa: E501 - tables of words read better unfolded
"""Whether an answer is within the field that the examiner learned, and if not, why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.contract import Lineage
from markscheme.tables import INSIDE, LEARNED, OUTSIDE, UNKNOWN

Matrix = npt.NDArray[np.float32]

_LONG_ANSWER, _LONG_REFERENCE = 220, 90
"""Words; of the rows that it learned from one in a hundred is longer."""
_STRANGE_COLUMNS = 3
"""So many columns outside what was learned make an answer strange; one in 200 learned rows is."""
_HEAD = 2_000
"""Characters of each text in which the language is looked for."""

_SCRIPTS = {
    "Chinese or Japanese": "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff",
    "Korean": "\uac00-\ud7af\u1100-\u11ff",
    "Arabic script": "\u0600-\u06ff\u0750-\u077f",
    "Cyrillic script": "\u0400-\u04ff",
    "an Indian script": "\u0900-\u0dff",
    "Greek": "\u0370-\u03ff",
    "Hebrew": "\u0590-\u05ff",
    "Thai": "\u0e00-\u0e7f",
}
_SCRIPT = re.compile("|".join(f"([{letters}])" for letters in _SCRIPTS.values()))
_FUNCTION_WORDS = {
    "English": "the of and to in is was were are for with that which who what when where how did does "
    "do has have had by from on at it his her their its not be been an as or this these many much "
    "a no if you your we our can may will any there",
    "German": "der die das und ist war wer wie wann wo welche welcher welches nicht ein eine einer eines "
    "dem den des von mit für auf im wurde wird sind hat zu bei nach aus als auch durch warum",
    "French": "le la les un une des du et est était qui que quel quelle quand où comment dans pour avec "
    "par sur ne pas il elle au aux ce cette en sont été combien pourquoi",
    "Spanish": "el la los las un una de del y es era quién qué cuál cuándo dónde cómo en para con por no "
    "se su al que fue son está cuántos cuántas ha",
    "Italian": "il lo la gli le un una di del della dei e è era chi che quale quando dove come in per con "
    "non si su al nel sono stato stata quanti quante fu ha",
    "Portuguese": "o a os as um uma de do da dos das e é era quem que qual quando onde como em para com "
    "por não se no na ao foi são quantos quantas",
    "Dutch": "de het een en is was wie wat welke wanneer waar hoe van in met voor op niet bij door uit "
    "aan naar zijn werd wordt hoeveel",
    "Turkish": "ve bir bu için ile ne kim kaç hangi nerede nasıl olarak olan da mi mı mu değil",
    "Polish": "i w na jest był była kto co kiedy gdzie jak z do nie się o po przez ile który która",
    "Swedish": "och är var vem vad när hur i på av för med som inte ett en det den till från många",
}
_BY_WORD = {
    word: [language for language, words in _FUNCTION_WORDS.items() if word in words.split()]
    for word in {word for words in _FUNCTION_WORDS.values() for word in words.split()}
}
_LETTERS = {
    "Turkish": "ığşİ",
    "Polish": "łśżźąęń",
    "German": "ß",
    "Spanish": "ñ¿¡",
    "Portuguese": "ãõ",
}
"""Letters that hardly another of these languages has; one in a name does not outvote English."""
_WORD = re.compile(r"[^\W\d_]+")


def script_of(text: str) -> str | None:
    """The script of at least three letters in ten, where it is not Latin, else None."""
    head = text[:_HEAD]
    counts = [0] * len(_SCRIPTS)
    for found in _SCRIPT.finditer(head):
        counts[(found.lastindex or 1) - 1] += 1
    letters = sum(len(word) for word in _WORD.findall(head))
    most = int(np.argmax(counts))
    return list(_SCRIPTS)[most] if counts[most] and counts[most] >= 0.3 * letters else None


def language_of(text: str) -> str | None:
    """The language or script of a text where it is plainly not English, else None.

    By script, and for Latin letters by function words: at least two of another language that
    English does not have, and more than English ones.
    """
    if script := script_of(text):
        return script
    head = text[:_HEAD]
    votes: dict[str, int] = {}
    for word in _WORD.findall(head.lower()):
        for language in _BY_WORD.get(word, ()):
            votes[language] = votes.get(language, 0) + 1
    for language, marks in _LETTERS.items():
        if count := sum(head.count(mark) for mark in marks):
            votes[language] = votes.get(language, 0) + count
    english = votes.pop("English", 0)
    if not votes:
        return None
    best = max(votes, key=lambda language: votes[language])
    return best if votes[best] >= max(2, english + 1) else None


@lru_cache(65_536)
def _language(question: str, references: str) -> str | None:
    return language_of(f"{question} {references}")


def scopes(
    texts: pl.DataFrame,
    matrix: Matrix,
    *,
    ranges: tuple[Matrix, Matrix],
    learned: Lineage,
) -> list[str]:
    """`learned from`, `outside: REASONS` or `inside` for every answer.

    Of weights that do not say what trained them, `unknown` takes the place of `inside`.

    Args:
        texts: `question`, `references` and `answer` as judged.
        matrix: the columns read of them, shape (rows, columns).
        ranges: lowest and highest value of each column in all but a thousandth of what was learned.
        learned: the questions that it was trained on. They go before all reasons: figures on them
            flatter the examiner wherever else they lie.
    """
    low, high = ranges
    strange = ((matrix < low) | (matrix > high)).sum(axis=1)
    seen = learned.has(texts["question"].to_list()).tolist()
    usual = INSIDE if learned.known else UNKNOWN
    out = []
    for (question, wanted, answer), odd, known in zip(
        texts.iter_rows(), strange, seen, strict=True
    ):
        if known:
            out.append(LEARNED)
            continue
        reasons = _reasons(question or "", wanted, answer or "", int(odd))
        out.append(f"{OUTSIDE}: {'; '.join(reasons)}" if reasons else usual)
    return out


def _reasons(question: str, references: Sequence[str], answer: str, odd: int) -> list[str]:
    found = []
    language = _language(question, " ".join(references)[:_HEAD])
    if language is not None:
        found.append(f"the texts are in {language}")
    words = len(answer.split())
    if words > _LONG_ANSWER:
        found.append(f"the answer has {words:,} words")
    wanted = min((len(one.split()) for one in references if one), default=0)
    if wanted > _LONG_REFERENCE:
        found.append(f"the shortest reference has {wanted:,} words")
    if odd >= _STRANGE_COLUMNS and not found:
        found.append("it is unlike the answers that the examiner learned from")
    return found
