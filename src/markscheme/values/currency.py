"""Currencies: symbols, codes and words, before or after an amount, and their small coins.

They are in `currencies.toml`. A `$` alone agrees with every dollar, a crown with every crown:
`same_currency` decides.
"""

from __future__ import annotations

import re

from markscheme.text import by_word, words_of

_TABLES = words_of(__file__, "currencies")
_CODES = frozenset(_TABLES["codes"].split())
_SYMBOLS = by_word(_TABLES["symbols"])
_WORDS = by_word(_TABLES["words"])
_COINS = by_word(_TABLES["coins"])
_COIN = 0.01
_NATIONS = by_word(_TABLES["nations"])
_FAMILIES = {one: frozenset(others.split()) for one, others in _TABLES["families"].items()}

_BEFORE = re.compile(
    r"(?:(?P<symbol>(?:US|U\.S\.|AU|CA|NZ|HK|MX|NT|[ACSR])?\$|[€£¥₹₽₩₺₴₪฿₫₦₱]|\bRs\.?|\bkr|\bzł|\bFr\.)|\b(?P<code>[A-Z]{3}))\s?$"
)
_AFTER = re.compile(
    r"\s?(?P<symbol>US\$|[$€£¥₹₽₩₺₴₪฿₫₦₱¢]|zł\b|zl\b|Kč|Ft\b|kr\b|人民币|欧元|美元|元|ユーロ|万円|円|원|ドル|달러|유로)"
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
    return (("CNY" if code == "RMB" else code), hit.start()) if code in _CODES else None


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
        if hit["code"] not in _CODES:
            return None
        return ("CNY" if hit["code"] == "RMB" else hit["code"]), 1.0, hit.end()
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
        if (
            word in ("mark", "marks", "real", "crown", "won", "rand")
            and not nation
            and word != "marks"
        ):
            return None
        code = _NATIONS.get(nation, "") if nation else ""
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


PERIODS: dict[str, str] = {
    "annum": "year",
    "a": "year",
    "a.": "year",
    "annually": "year",
    "yearly": "year",
    "yr": "year",
    "monthly": "month",
    "mo": "month",
    "weekly": "week",
    "daily": "day",
    "hourly": "hour",
}
"""The period of an adverb or abbreviation after an amount of money: `per annum`, `monthly`."""
