# ruff: noqa: E501 - tables of words read better unfolded
"""Other languages than English: which texts are in one, and yes, no and denial in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain

from markscheme.text.words import LETTERS, words_of

_WORDS = words_of(__file__)


# --- Which language a text is in, where it is plainly not English ---------------------------------


_HEAD = 2_000
"""Characters of a text in which its language is looked for."""
_SCRIPTS = {
    "Chinese or Japanese": "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff",
    "Korean": "\uac00-\ud7af\u1100-\u11ff",
    "Arabic script": "\u0600-\u06ff\u0750-\u077f",
    "Cyrillic script": "\u0400-\u04ff",
    "an Indian script": "\u0900-\u0dff",
    "Greek": "\u0370-\u03a8\u03aa-\u03bb\u03bd-\u03ff",  # without the signs Ω and μ
    "Hebrew": "\u0590-\u05ff",
    "Thai": "\u0e00-\u0e7f",
}
_SCRIPT = re.compile("|".join(f"([{letters}])" for letters in _SCRIPTS.values()))


def _languages_of(*tables: Mapping[str, str]) -> dict[str, list[str]]:
    """The languages of each word of some tables."""
    found: dict[str, list[str]] = {}
    for language in _WORDS["function_words"]:
        for word in " ".join(table.get(language, "") for table in tables).split():
            found.setdefault(word, []).append(language)
    return found


_FUNCTION_WORDS = _languages_of(_WORDS["function_words"], _WORDS["question_words"])
_OPENINGS = _languages_of(_WORDS["question_words"], _WORDS["openings"])


def script_of(text: str) -> str | None:
    """The script of at least three letters in ten, where it is not Latin, else None."""
    return _script(text[:_HEAD])


def _script(head: str) -> str | None:
    if head.isascii():
        return None
    counts = [0] * len(_SCRIPTS)
    for found in _SCRIPT.finditer(head):
        counts[(found.lastindex or 1) - 1] += 1
    most = max(range(len(counts)), key=counts.__getitem__)
    letters = sum(len(word) for word in LETTERS.findall(head))
    return list(_SCRIPTS)[most] if counts[most] and counts[most] >= 0.3 * letters else None


def language_of(text: str) -> str | None:
    """The language or script of a text where it is plainly not English, else None.

    By script, and for Latin letters by function words: at least two of another language, of
    which a question word that begins the text counts twice, and more than English ones.

    >>> language_of("Wer schrieb den Roman?"), language_of("Thomas Mann")
    ('German', None)
    """
    return _language(text[:_HEAD])


@lru_cache(16_384)
def _language(head: str) -> str | None:
    if script := _script(head):
        return script
    words = LETTERS.findall(head.lower())
    # A question word that begins the text counts twice, for a short question has no other.
    votes = dict.fromkeys(_OPENINGS.get(words[0], ()), 2) if words else {}
    for word in words[1 if votes else 0 :]:
        for language in _FUNCTION_WORDS.get(word, ()):
            votes[language] = votes.get(language, 0) + 1
    for language, letters in () if head.isascii() else _WORDS["letters"].items():
        if count := sum(map(head.count, letters)):
            votes[language] = votes.get(language, 0) + count
    english = votes.pop("English", 0)
    if not votes:
        return None
    best = max(votes, key=votes.__getitem__)
    return best if votes[best] >= max(2, english + 1) else None


def is_foreign(text: str) -> bool:
    """Whether a text is not in English: by `language_of`, or a third of its words have other letters.

    The second holds of short texts too, such as "fünf", but not where a word is an English one.
    """
    if language_of(text) is not None:
        return True
    words = [] if text.isascii() else LETTERS.findall(text[:_HEAD].lower())
    other = sum(not word.strip("μµω").isascii() for word in words)  # μm and kΩ are in no language
    return 0 < len(words) <= 3 * other and not any(
        "English" in _FUNCTION_WORDS.get(word, ()) for word in words
    )


# --- Yes, no, denial and "I do not know" in English and fourteen other languages ------------------


_ENGLISH_YES = "yes|yeah|yep|yup|true|correct|affirmative|that(?: is|['’]s) (?:right|correct|true)"
_ENGLISH_ADVERBS = "right|absolutely|certainly|indeed|of course|sure|definitely|exactly"
"""A yes where a mark follows: "right, it is", and not "right now"."""

_EAST_YES = (
    "はい|ええ|そうです|もちろん|是的?(?!否)|对|對|当然|可以|能(?!否)|네|예(?=[,. ]|$)|그렇|맞"
)
_EAST_NO = "いいえ|いえ|違い|ちがい|不|没有|沒有|否|아니|아뇨|안 "
_WORD_NO = r"no(?!\s*(?:problem|doubt|worries|matter|sooner|less|fewer|more than)\b)"


def _starts(words: Mapping[str, Sequence[str]], east: str, more: str = "") -> re.Pattern[str]:
    different = set(chain.from_iterable(words.values()))
    ordered = "|".join(re.escape(word) for word in sorted(different, key=len, reverse=True))
    return re.compile(rf"^[\W_]*(?:(?:{more}{ordered})(?![\w'’])|{east})", re.IGNORECASE)


_STARTS_YES = _starts(
    _WORDS["yes"], _EAST_YES, _ENGLISH_YES + rf"|(?:{_ENGLISH_ADVERBS})(?=\s*(?:[,.;:!–—-]|$))|"
)
_STARTS_NO = _starts(_WORDS["no"], _EAST_NO, _WORD_NO + "|")

_NEGATED = re.compile(
    r"\b(?:nicht|kein\w*|nie|niemals|weder|pas|jamais|aucun\w*|ni|no|nunca|jamás|tampoco|ningun\w*|non|mai|nessun\w*|"
    r"não|nem|nenhum\w*|niet|geen|nooit|не|нет|нельзя|никогда|никак\w*|değil\w*|yok|hiç|nie|nigdy|tidak|bukan|belum|"
    r"لا|ليس|ليست|لم|لن|غير|नहीं|मत)\b|n'(?=\w+\s+(?:pas|jamais))|不|没|沒|未|ない|ません|なかった|않|없|아니|못",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"\b(?:weiß (?:\w+ ){0,3}nicht|keine ahnung|kann (?:ich |das |dazu |man )*nicht (?:sagen|beantworten)|"
    r"je (?:ne )?sais pas|aucune idée|je ne peux pas (?:répondre|dire)|no (?:lo )?sé|no tengo (?:ni )?idea|no puedo (?:responder|decir)|"
    r"no se (?:sabe|indica|menciona)|non (?:lo )?so|non (?:ne )?ho idea|non posso (?:rispondere|dire)|(?:eu )?não sei|não faço ideia|"
    r"não posso (?:responder|dizer)|ik weet (?:het )?niet|geen idee|не знаю|понятия не имею|не могу (?:сказать|ответить)|"
    r"bilmiyorum|fikrim yok|nie wiem|tidak tahu|لا أعرف|لا أعلم|لا أدري|नहीं पता|नहीं जानत\w*|पता नहीं)\b"
    r"|不知道|不清楚|不确定|無法回答|无法回答|わかりません|分かりません|知りません|答えられません|모르|알 수 없",
    re.IGNORECASE,
)


def yes_or_no(text: str, *, alone: bool = False) -> bool | None:
    """Whether a text begins with a word for yes (True) or for no (False); else None.

    Args:
        text: an answer.
        alone: whether it must say no more than that.

    >>> yes_or_no("Claro, aceptamos PayPal."), yes_or_no("Certainly not."), yes_or_no("No problem!")
    (True, False, None)
    """
    found = _STARTS_NO.match(text) or _STARTS_YES.match(text)
    if found is None or (alone and re.search(r"\w", text[found.end() :])):
        return None
    return found.re is _STARTS_YES


def denials_abroad(text: str) -> int:
    """How many words of denial of other languages than English a text has.

    >>> denials_abroad("Das ist nicht rot und kein Haus.")
    2
    """
    return sum(1 for _ in _NEGATED.finditer(text))


def declines_abroad(text: str) -> bool:
    """Whether a text says in another language than English that it does not know.

    >>> declines_abroad("Das weiß ich nicht."), declines_abroad("Das ist nicht rot.")
    (True, False)
    """
    return _DECLINED.search(text) is not None
