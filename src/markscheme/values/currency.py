# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Currencies: symbols, codes and words, before or after an amount, and their small coins.

A `$` alone agrees with every dollar, a crown with every crown: `same_currency` decides.
"""

from __future__ import annotations

import re

_CODES = frozenset(
    [
        "USD",
        "EUR",
        "GBP",
        "JPY",
        "CNY",
        "CHF",
        "CAD",
        "AUD",
        "NZD",
        "INR",
        "RUB",
        "KRW",
        "BRL",
        "MXN",
        "SEK",
        "NOK",
        "DKK",
        "PLN",
        "CZK",
        "HUF",
        "TRY",
        "ZAR",
        "SGD",
        "HKD",
        "THB",
        "IDR",
        "MYR",
        "PHP",
        "VND",
        "ILS",
        "SAR",
        "AED",
        "EGP",
        "NGN",
        "KES",
        "GHS",
        "UAH",
        "RON",
        "BGN",
        "ISK",
        "ARS",
        "CLP",
        "COP",
        "PEN",
        "TWD",
        "PKR",
        "BDT",
        "LKR",
        "QAR",
        "KWD",
        "BTC",
        "ETH",
        "RMB",
    ]
)
_SYMBOLS = {
    "US$": "USD", "U.S.$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "R$": "BRL", "MX$": "MXN", "NT$": "TWD", "$": "$", "€": "EUR", "£": "GBP", "¥": "¥", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY",
    "₴": "UAH", "₪": "ILS", "฿": "THB", "₫": "VND", "₦": "NGN", "₱": "PHP", "zł": "PLN", "zl": "PLN", "Kč": "CZK", "Ft": "HUF",
    "Rs": "rupee", "Rs.": "rupee", "R": "ZAR", "kr": "crown", "Fr.": "franc", "元": "CNY", "人民币": "CNY", "円": "JPY", "원": "KRW", "欧元": "EUR", "ユーロ": "EUR",
    "유로": "EUR", "美元": "USD", "ドル": "$", "달러": "$", "万円": "JPY",
}  # fmt: skip
_WORDS = {
    "dollar": "$", "dollars": "$", "bucks": "$", "buck": "$", "dólares": "$", "dólar": "$", "dollari": "$", "доллар": "$", "доллара": "$", "долларов": "$", "dolar": "$",
    "euro": "EUR", "euros": "EUR", "евро": "EUR", "यूरो": "EUR", "يورو": "EUR",
    "pound": "pound", "pounds": "pound", "quid": "GBP", "sterling": "GBP", "libras": "pound",
    "yen": "JPY", "yuan": "CNY", "renminbi": "CNY", "rupee": "rupee", "rupees": "rupee", "रुपये": "rupee", "रुपए": "rupee",
    "franc": "franc", "francs": "franc", "franken": "franc", "crown": "crown", "crowns": "crown", "kronor": "crown", "kroner": "crown", "krona": "crown", "krone": "crown", "kronen": "crown",
    "rouble": "RUB", "roubles": "RUB", "ruble": "RUB", "rubles": "RUB", "рублей": "RUB", "рубля": "RUB", "рубль": "RUB",
    "won": "KRW", "lira": "TRY", "liras": "TRY", "real": "BRL", "reais": "BRL", "peso": "peso", "pesos": "peso", "zloty": "PLN", "zlotys": "PLN", "złoty": "PLN", "złotych": "PLN",
    "rand": "ZAR", "shilling": "shilling", "shillings": "shilling", "dinar": "dinar", "dinars": "dinar", "dirham": "AED", "dirhams": "AED",
    "mark": "mark", "marks": "mark", "guilder": "guilder", "guilders": "guilder", "forint": "HUF", "florins": "florin", "ducats": "ducat",
    "bitcoin": "BTC", "bitcoins": "BTC", "lirası": "TRY", "tl": "TRY", "ريال": "riyal", "درهم": "AED", "دينار": "dinar", "دولار": "$",
}  # fmt: skip
_COINS = {
    "cent": ("cent", 0.01), "cents": ("cent", 0.01), "¢": ("cent", 0.01), "pence": ("GBP", 0.01), "penny": ("GBP", 0.01), "p": ("GBP", 0.01),
    "kopeks": ("RUB", 0.01), "копеек": ("RUB", 0.01), "centimes": ("EUR", 0.01), "céntimos": ("EUR", 0.01), "öre": ("crown", 0.01), "øre": ("crown", 0.01), "paise": ("rupee", 0.01),
}  # fmt: skip
_NATIONS = {
    "us": "USD", "u.s.": "USD", "american": "USD", "canadian": "CAD", "australian": "AUD", "singapore": "SGD", "swiss": "CHF", "british": "GBP",
    "swedish": "SEK", "norwegian": "NOK", "danish": "DKK", "czech": "CZK", "indian": "INR", "pakistani": "PKR", "mexican": "MXN", "argentine": "ARS",
    "egyptian": "EGP", "japanese": "JPY", "chinese": "CNY", "french": "franc", "deutsche": "mark", "german": "mark", "irish": "pound", "schweizer": "CHF",
}  # fmt: skip
_FAMILIES = {
    "$": {"USD", "CAD", "AUD", "NZD", "HKD", "SGD", "TWD", "MXN", "cent", "ARS", "CLP", "COP"},
    "¥": {"JPY", "CNY"}, "pound": {"GBP", "EGP"}, "crown": {"SEK", "NOK", "DKK", "CZK", "ISK"}, "franc": {"CHF"},
    "rupee": {"INR", "PKR", "LKR"}, "peso": {"MXN", "ARS", "CLP", "COP", "PHP"}, "cent": {"USD", "CAD", "AUD", "EUR", "NZD"},
    "dinar": {"KWD"}, "riyal": {"SAR", "QAR"},
}  # fmt: skip

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
            return "cent", 0.01, hit.end()
        return _SYMBOLS[sign], 1.0, hit.end()
    if hit["code"]:
        if hit["code"] not in _CODES:
            return None
        return ("CNY" if hit["code"] == "RMB" else hit["code"]), 1.0, hit.end()
    nation, word = (hit["nation"] or "").lower(), hit["word"].lower()
    if nation in ("euro", "us", "u.s.", "dollar") and word in ("cent", "cents"):
        return ("EUR" if nation == "euro" else "USD"), 0.01, hit.end()
    if nation and nation not in _NATIONS:
        word, nation, end = nation, "", hit.end("nation")
    else:
        end = hit.end()
    if word in _COINS:
        if word == "p" and hit.start("word") != at:
            return None
        code, size = _COINS[word]
        return code, size, end
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
