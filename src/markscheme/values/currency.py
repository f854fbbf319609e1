"""Currencies: symbols, codes and words, before or after an amount, and their small coins.

They are in `currencies.toml`. A `$` alone agrees with every dollar, a crown with every crown:
`same_currency` decides.
"""

from __future__ import annotations

import re
import unicodedata

from markscheme.text import by_word, words_of

_TABLES = words_of(__file__, "currencies")
_CODES = {code: code for code in _TABLES["codes"].split()} | {"RMB": "CNY"}
_SYMBOLS = by_word(_TABLES["symbols"])
_WORDS = by_word(_TABLES["words"])
_COINS = by_word(_TABLES["coins"])
_COIN = 0.01
_NATIONS = by_word(_TABLES["nations"])
_FAMILIES = {one: frozenset(others.split()) for one, others in _TABLES["families"].items()}

_SIGNS = "".join(one for one in _SYMBOLS if unicodedata.category(one[0]) == "Sc")
"""The signs of currencies: $, €, £ and others."""
_BEFORE = re.compile(
    rf"(?:(?P<symbol>(?:US|U\.S\.|AU|CA|NZ|HK|MX|NT|[ACSR])?\$|[{_SIGNS}]|\bRs\.?|\bkr|\bzł|\bFr\.)"
    r"|\b(?P<code>[A-Z]{3}))\s?$"
)
_AFTER = re.compile(
    rf"\s?(?P<symbol>US\$|[{_SIGNS}¢]|zł\b|zl\b|Kč|Ft\b|kr\b|人民币|欧元|美元|元|ユーロ|万円|円|원|ドル|달러|유로)"
    r"|[ -]?(?P<code>[A-Z]{3})\b"
    r"|[ -]?(?:d'|de |di )?(?:(?P<nation>U\.S\.|[^\W\d_]+)[ -])?(?P<word>[^\W\d_]+)"
)


def currency_before(text: str, at: int) -> tuple[str, int] | None:
    """The currency written before a place, and where it starts."""
    hit = _BEFORE.search(text, max(0, at - 8), at)
    if not hit:
        return None
    if hit["symbol"]:
        return _SYMBOLS[hit["symbol"]], hit.start()
    code = hit["code"]
    return (_CODES[code], hit.start()) if code in _CODES else None


def currency_after(text: str, at: int) -> tuple[str, float, int] | None:  # noqa: PLR0912
    """The currency after a place: its code, the size of the coin, and where it ends."""
    hit = _AFTER.match(text, at)
    if not hit:
        return None
    if hit["symbol"]:
        sign = hit["symbol"]
        if sign == "¢":
            return "cent", _COIN, hit.end()
        return _SYMBOLS[sign], 1.0, hit.end()
    if hit["code"]:
        return (_CODES[hit["code"]], 1.0, hit.end()) if hit["code"] in _CODES else None
    nation, word = (hit["nation"] or "").lower(), hit["word"].lower()
    if nation in ("euro", "us", "u.s.", "dollar") and word in ("cent", "cents"):
        return ("EUR" if nation == "euro" else "USD"), _COIN, hit.end()
    if nation and nation not in _NATIONS:
        word, nation, end = nation, "", hit.end("nation")
    else:
        end = hit.end()
    if word in _COINS:
        if word == "p" and hit.start("word") != at:
            return None
        return _COINS[word], _COIN, end
    if word in _WORDS:
        if word in ("mark", "real", "crown", "won", "rand") and not nation:
            return None
        code = _NATIONS.get(nation, "")
        if not code:
            code = _WORDS[word]
            if code == "pound" and text[end : end + 9].lower() == " sterling":
                code, end = "GBP", end + 9
            elif text[end : end + 5].upper() == " (US)":
                code, end = "USD", end + 5
        return code, 1.0, end
    return None


def same_currency(left: str, right: str) -> bool:
    """Whether two currencies may be the same one.

    >>> same_currency("$", "USD"), same_currency("USD", "CAD"), same_currency("GBP", "EUR")
    (True, False, False)
    """
    if left == right or not left or not right:
        return True
    return right in _FAMILIES.get(left, ()) or left in _FAMILIES.get(right, ())


PERIODS = by_word(_TABLES["periods"])
"""The period of an adverb or abbreviation after an amount of money: `per annum`, `monthly`."""
