# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Units of measure: which words and symbols name one, what they measure, how they convert.

A unit is a product of powers ("kg/m²", "metres per second", "mg/dL"). The factors are the exact
or conventional ones of the SI brochure and NIST SP 811; a test compares them with pint's.
"""

from __future__ import annotations

import re
from functools import lru_cache

from markscheme.values.kinds import Unit

_Dimensions = tuple[tuple[str, int], ...]

_LENGTH: _Dimensions = (("length", 1),)
_TIME: _Dimensions = (("time", 1),)
_MASS: _Dimensions = (("mass", 1),)
_TEMPERATURE: _Dimensions = (("temperature", 1),)
_AREA: _Dimensions = (("length", 2),)
_VOLUME: _Dimensions = (("length", 3),)
_FORCE: _Dimensions = (("length", 1), ("mass", 1), ("time", -2))
_PRESSURE: _Dimensions = (("length", -1), ("mass", 1), ("time", -2))
_ENERGY: _Dimensions = (("length", 2), ("mass", 1), ("time", -2))
_POWER: _Dimensions = (("length", 2), ("mass", 1), ("time", -3))
_SPEED: _Dimensions = (("length", 1), ("time", -1))
_AMOUNT: _Dimensions = (("amount", 1),)
_DATA: _Dimensions = (("data", 1),)
_CURRENT: _Dimensions = (("current", 1),)
_VOLTAGE: _Dimensions = (("current", -1), ("length", 2), ("mass", 1), ("time", -3))
_FREQUENCY: _Dimensions = (("time", -1),)
_ANGLE: _Dimensions = (("angle", 1),)
_DEGREE: _Dimensions = (("degree", 1),)
_LUMINOSITY: _Dimensions = (("luminosity", 1),)
_SOUND: _Dimensions = (("sound", 1),)

_YEAR = 31_556_952.0
_LB = 0.45359237
_INCH = 0.0254

# Name, dimensions, factor; then the symbols (case matters) and the words (case does not).
_TABLE: tuple[tuple[str, _Dimensions, float, str, str], ...] = (
    ("m", _LENGTH, 1.0, "m", "metre meter metro metri metros mètre mètres метр метра метров metrə"),
    ("in", _LENGTH, _INCH, "in", "inch inches zoll pulgada pulgadas pouces"),
    ("ft", _LENGTH, 12 * _INCH, "ft", "foot feet fuß pies"),
    ("yd", _LENGTH, 36 * _INCH, "yd", "yard yards"),
    ("mi", _LENGTH, 1609.344, "mi", "mile miles meile meilen milla millas миль"),
    ("nmi", _LENGTH, 1852.0, "nmi", "nautical_mile nautical_miles"),
    ("furlong", _LENGTH, 201.168, "", "furlong furlongs"),
    ("fathom", _LENGTH, 1.8288, "", "fathom fathoms"),
    ("league", _LENGTH, 4828.032, "", "league leagues"),
    ("micron", _LENGTH, 1e-6, "", "micron microns"),
    ("ångström", _LENGTH, 1e-10, "Å", "angstrom angstroms ångström"),
    ("au", _LENGTH, 149_597_870_700.0, "AU", "astronomical_unit astronomical_units"),
    ("ly", _LENGTH, 9.4607304725808e15, "ly", "light-year light-years light_year light_years"),
    ("pc", _LENGTH, 3.0856775814913673e16, "", "parsec parsecs"),
    ("hand", _LENGTH, 4 * _INCH, "", "hands"),
    ("g", _MASS, 1e-3, "g gr", "gram gramme grams grammes gramm gramo gramos grammi grammo grama gramas грамм грамма граммов"),
    ("kg", _MASS, 1.0, "", "kilo kilos chilo chili quilo quilos килограмм килограмма килограммов кг"),
    ("lb", _MASS, _LB, "lb lbs lb.", "pound pounds pfund"),
    ("oz", _MASS, _LB / 16, "oz", "ounce ounces unzen"),
    ("stone", _MASS, 14 * _LB, "", "stone stones"),
    ("t", _MASS, 1000.0, "t", "tonne tonnes tonnen metric_ton metric_tons toneladas tonnellate тонн"),
    ("ton", _MASS, 2000 * _LB, "", "ton tons"),
    ("carat", _MASS, 2e-4, "ct", "carat carats"),
    ("Da", _MASS, 1.66053906660e-27, "Da u amu", "dalton daltons"),
    ("s", _TIME, 1.0, "s", "second seconds sec secs sekunde sekunden segundo segundos seconde secondes secondi секунд секунды saniye"),
    ("min", _TIME, 60.0, "min min. mins", "minute minutes minuto minutos minuten minuti minuut минут минуты dakika"),
    ("h", _TIME, 3600.0, "h hr hrs hr.", "hour hours stunde stunden hora horas heure heures ora ore uur uren часа часов час saat"),
    ("d", _TIME, 86400.0, "d", "day days tag tage tagen día días jour jours giorno giorni dia dias dag dagen день дня дней gün"),
    # Five of them make a week: "10 business days" are two weeks, and not ten days.
    ("business day", _TIME, 7 * 86400.0 / 5, "", "business_day business_days working_day working_days work_day work_days workday workdays weekday weekdays bank_day bank_days banking_day banking_days trading_day trading_days werktag werktage werktagen arbeitstag arbeitstage arbeitstagen"),
    ("week", _TIME, 604800.0, "wk wks", "week weeks woche wochen semana semanas semaine semaines settimana settimane weken неделя недели недель hafta"),
    ("fortnight", _TIME, 1209600.0, "", "fortnight fortnights"),
    ("month", _TIME, _YEAR / 12, "mo mos", "month months monat monate monaten mes meses mois mese mesi mês maand maanden месяц месяца месяцев ay"),
    ("year", _TIME, _YEAR, "yr yrs", "year years jahr jahre jahren año años ans année années anno anni ano anos jaar год года лет yıl yaş"),
    ("decade", _TIME, 10 * _YEAR, "", "decade decades jahrzehnt jahrzehnte"),
    ("century", _TIME, 100 * _YEAR, "", "century centuries"),
    ("millennium", _TIME, 1000 * _YEAR, "", "millennium millennia"),
    ("K", _TEMPERATURE, 1.0, "K", "kelvin kelvins"),
    ("°C", _TEMPERATURE, 1.0, "°C ℃", "celsius centigrade degree_celsius degrees_celsius degrees_centigrade deg_c degrees_c grad_celsius grados_celsius graus_celsius gradi_celsius"),
    ("°F", _TEMPERATURE, 5 / 9, "°F ℉", "fahrenheit degree_fahrenheit degrees_fahrenheit degrees_f deg_f"),
    ("°", _DEGREE, 1.0, "°", "degree degrees deg grad grados graus gradi degrés"),
    ("rad", _ANGLE, 1.0, "rad", "radian radians"),
    ("L", _VOLUME, 1e-3, "L l ℓ", "litre liter litro litros litri литр литра литров"),
    ("gal", _VOLUME, 3.785411784e-3, "gal", "gallon gallons"),
    ("qt", _VOLUME, 9.46352946e-4, "qt", "quart quarts"),
    ("pint", _VOLUME, 4.73176473e-4, "pt", "pint pints"),
    ("cup", _VOLUME, 2.365882365e-4, "", "cup cups"),
    ("tbsp", _VOLUME, 1.478676478125e-5, "tbsp", "tablespoon tablespoons"),
    ("tsp", _VOLUME, 4.92892159375e-6, "tsp", "teaspoon teaspoons"),
    ("fl oz", _VOLUME, 2.95735295625e-5, "", "fluid_ounce fluid_ounces fl_oz"),
    ("barrel", _VOLUME, 0.158987294928, "bbl", "barrel barrels"),
    ("cc", _VOLUME, 1e-6, "cc ccm", "cubic_centimetre"),
    ("acre", _AREA, 4046.8564224, "", "acre acres"),
    ("ha", _AREA, 1e4, "ha", "hectare hectares hektar hectáreas"),
    ("sqm", _AREA, 1.0, "sqm ㎡", "quadratmeter metrekare"),
    ("sqft", _AREA, 0.09290304, "sqft", ""),
    ("N", _FORCE, 1.0, "N", "newton newtons"),
    ("lbf", _FORCE, 4.4482216152605, "lbf", ""),
    ("Pa", _PRESSURE, 1.0, "Pa", "pascal pascals"),
    ("bar", _PRESSURE, 1e5, "bar", "bars"),
    ("atm", _PRESSURE, 101_325.0, "atm", "atmosphere atmospheres"),
    ("mmHg", _PRESSURE, 133.322387415, "mmHg", "torr"),
    ("psi", _PRESSURE, 6894.757293168361, "psi", ""),
    ("J", _ENERGY, 1.0, "J", "joule joules"),
    ("cal", _ENERGY, 4.184, "cal", "calorie calories"),
    ("kcal", _ENERGY, 4184.0, "kcal Cal", "kilocalorie kilocalories"),
    ("eV", _ENERGY, 1.602176634e-19, "eV", "electronvolt electronvolts electron_volts electron_volt"),
    ("Wh", _ENERGY, 3600.0, "Wh", "watt-hour watt-hours watt_hours watt_hour"),
    ("BTU", _ENERGY, 1055.05585262, "BTU Btu", ""),
    ("W", _POWER, 1.0, "W", "watt watts"),
    ("hp", _POWER, 745.6998715822702, "hp", "horsepower"),
    ("PS", _POWER, 735.49875, "PS", ""),
    ("mph", _SPEED, 0.44704, "mph", "miles_an_hour"),
    ("km/h", _SPEED, 1 / 3.6, "kph kmh", "stundenkilometer"),
    ("kn", _SPEED, 1852 / 3600, "kn kt kts", "knot knots"),
    ("mol", _AMOUNT, 1.0, "mol", "mole moles"),
    ("M", (("amount", 1), ("length", -3)), 1000.0, "", "molar"),
    ("bit", _DATA, 1.0, "b bit", "bit bits"),
    ("B", _DATA, 8.0, "B", "byte bytes octet octets"),
    ("KiB", _DATA, 8 * 2.0**10, "KiB", "kibibyte kibibytes"),
    ("MiB", _DATA, 8 * 2.0**20, "MiB", "mebibyte mebibytes"),
    ("GiB", _DATA, 8 * 2.0**30, "GiB", "gibibyte gibibytes"),
    ("TiB", _DATA, 8 * 2.0**40, "TiB", "tebibyte tebibytes"),
    ("bit/s", (("data", 1), ("time", -1)), 1.0, "bps", ""),
    ("A", _CURRENT, 1.0, "A", "ampere amperes amp amps"),
    ("Ah", (("current", 1), ("time", 1)), 3600.0, "Ah", ""),
    ("C", (("current", 1), ("time", 1)), 1.0, "", "coulomb coulombs"),
    ("V", _VOLTAGE, 1.0, "V", "volt volts"),
    ("Ω", (("current", -2), ("length", 2), ("mass", 1), ("time", -3)), 1.0, "Ω", "ohm ohms"),
    ("F", (("current", 2), ("length", -2), ("mass", -1), ("time", 4)), 1.0, "", "farad farads"),
    ("H", (("current", -2), ("length", 2), ("mass", 1), ("time", -2)), 1.0, "", "henry henries"),
    ("T", (("current", -1), ("mass", 1), ("time", -2)), 1.0, "", "tesla"),
    ("Wb", (("current", -1), ("length", 2), ("mass", 1), ("time", -2)), 1.0, "Wb", "weber"),
    ("Hz", _FREQUENCY, 1.0, "Hz", "hertz"),
    ("rpm", _FREQUENCY, 1 / 60, "rpm", ""),
    ("lm", _LUMINOSITY, 1.0, "lm", "lumen lumens"),
    ("dB", _SOUND, 1.0, "dB", "decibel decibels"),
)  # fmt: skip

_PREFIXES = {
    "y": 1e-24, "z": 1e-21, "a": 1e-18, "f": 1e-15, "p": 1e-12, "n": 1e-9, "μ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2,
    "d": 1e-1, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
}  # fmt: skip
_PREFIX_WORDS = {
    "nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "mili": 1e-3, "centi": 1e-2, "zenti": 1e-2, "deci": 1e-1, "hecto": 1e2,
    "kilo": 1e3, "quilo": 1e3, "chilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15, "pico": 1e-12,
    "кило": 1e3, "санти": 1e-2, "милли": 1e-3, "kiló": 1e3, "milí": 1e-3, "centí": 1e-2, "quiló": 1e3, "femto": 1e-15,
}  # fmt: skip
_PREFIXABLE = frozenset(
    [
        "m",
        "g",
        "s",
        "L",
        "l",
        "mol",
        "J",
        "eV",
        "W",
        "Wh",
        "Pa",
        "bar",
        "Hz",
        "V",
        "A",
        "Ah",
        "N",
        "Ω",
        "b",
        "B",
        "bit",
        "cal",
        "K",
        "Da",
        "lm",
        "bps",
        "t",
        "rad",
    ]
)
_PREFIXABLE_NAMES = frozenset(
    [
        "m",
        "g",
        "s",
        "L",
        "mol",
        "J",
        "eV",
        "W",
        "Wh",
        "Pa",
        "bar",
        "Hz",
        "V",
        "A",
        "N",
        "Ω",
        "bit",
        "B",
        "cal",
        "T",
        "C",
        "F",
        "H",
        "Wb",
    ]
)
_ODD = {
    "km": "k m", "Kg": "k g", "KG": "k g", "KB": "k B", "Mo": "M B", "Go": "G B", "KM": "k m", "км": "k m", "кг": "k g",
    "см": "c m", "мм": "m m", "мг": "m g", "мл": "m L", "км/ч": "", "Mbit": "M bit", "Gbit": "G bit", "kbit": "k bit",
}  # fmt: skip
_EASTERN = {
    "キロメートル": (_LENGTH, 1e3), "キロ": (_LENGTH, 1e3), "センチ": (_LENGTH, 1e-2), "メートル": (_LENGTH, 1.0), "公里": (_LENGTH, 1e3), "千米": (_LENGTH, 1e3),
    "厘米": (_LENGTH, 1e-2), "毫米": (_LENGTH, 1e-3), "米": (_LENGTH, 1.0), "公斤": (_MASS, 1.0), "千克": (_MASS, 1.0), "克": (_MASS, 1e-3),
    "グラム": (_MASS, 1e-3), "吨": (_MASS, 1e3), "トン": (_MASS, 1e3), "时间": (_TIME, 3600.0), "小时": (_TIME, 3600.0), "時間": (_TIME, 3600.0),
    "시간": (_TIME, 3600.0), "分钟": (_TIME, 60.0), "分間": (_TIME, 60.0), "分": (_TIME, 60.0), "분": (_TIME, 60.0), "秒": (_TIME, 1.0), "초": (_TIME, 1.0),
    "日間": (_TIME, 86400.0), "天": (_TIME, 86400.0), "日": (_TIME, 86400.0), "일": (_TIME, 86400.0), "週間": (_TIME, 604800.0), "周": (_TIME, 604800.0),
    "주": (_TIME, 604800.0), "か月": (_TIME, _YEAR / 12), "ヶ月": (_TIME, _YEAR / 12), "个月": (_TIME, _YEAR / 12), "개월": (_TIME, _YEAR / 12),
    "年間": (_TIME, _YEAR), "年": (_TIME, _YEAR), "년": (_TIME, _YEAR), "킬로미터": (_LENGTH, 1e3), "미터": (_LENGTH, 1.0), "센티미터": (_LENGTH, 1e-2),
    "升": (_VOLUME, 1e-3), "リットル": (_VOLUME, 1e-3), "리터": (_VOLUME, 1e-3), "毫升": (_VOLUME, 1e-6),
}  # fmt: skip
_OFFSETS = {"°C": 273.15, "°F": 459.67 * 5 / 9}


def _build() -> tuple[dict[str, Unit], dict[str, Unit]]:  # noqa: PLR0912
    symbols: dict[str, Unit] = {}
    words: dict[str, Unit] = {}
    for name, dimensions, factor, signs, names in _TABLE:
        unit = Unit(name, dimensions, factor, _OFFSETS.get(name, 0.0))
        for symbol in signs.split():
            symbols[symbol] = unit
            if symbol in _PREFIXABLE:
                for prefix, size in _PREFIXES.items():
                    symbols.setdefault(
                        prefix + symbol, Unit(prefix + symbol, dimensions, factor * size)
                    )
        for word in names.split():
            words[word.replace("_", " ")] = unit
            if word + "s" not in words and word.isascii() and not word.endswith("s"):
                words.setdefault(word.replace("_", " ") + "s", unit)
            if name in _PREFIXABLE_NAMES and "_" not in word:
                for prefix, size in _PREFIX_WORDS.items():
                    long = Unit(prefix + word, dimensions, factor * size)
                    words.setdefault(prefix + word, long)
                    words.setdefault(prefix + word + "s", long)
    for sign, parts in _ODD.items():
        if parts:
            prefix, _, base = parts.partition(" ")
            symbols[sign] = symbols[prefix + base]
    for sign in (
        "am",
        "as",
        "pm",
        "ms.",
        "at",
        "a",
        "dm.",
        "mm.",
        "ha.",
        "ft.",
        "hl",
        "us",
        "pl",
        "ns.",
    ):
        if sign in ("am", "as", "at", "a", "pm", "us"):
            symbols.pop(sign, None)
    for sign, (dimensions, factor) in _EASTERN.items():
        symbols[sign] = Unit(sign, dimensions, factor)
    return symbols, words


SYMBOLS, WORDS = _build()
_LOWER_SYMBOLS = {
    key.lower(): unit for key, unit in SYMBOLS.items()
    if key.lower() in ("km", "cm", "mm", "kg", "mg", "ml", "kwh", "mhz", "ghz", "hz", "mev", "gev", "kev", "kw", "mw", "psi", "bar", "ft", "lbs", "mmhg", "kpa", "hpa")
    and key not in ("Mm", "Mg", "mW", "MW", "meV", "mHz", "Mg", "ML", "dM", "Pg", "pg")
}  # fmt: skip
_PER = re.compile(
    r"\s*(?:/|\bper\b|\bje\b|\bpor\b|\bpar\b|\bpro\b|\bal\b(?=\s+(?:segundo|secondo))|\bin a\b|\ban?\b)\s*"
)
_TIMES = re.compile(r"\s*[·⋅*×]\s*|\s(?=(?:m|s|kg|mol|K|A)(?:[⁻^-]))")
_EXPONENT = re.compile(r"\^?\(?([⁻-]?[0-9¹²³⁴⁻])\)?")
_SUPERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PIECE = re.compile(
    r"(?:(?P<pre>square|cubic|sq\.?|cu\.?)\s+)?"
    r"(?P<unit>°\s?[CF]\b|°|℃|℉|deg(?:rees?)?\s+[CF]\b"
    r"|(?:degrees?|deg|grad|grados|graus|gradi)\s+(?:celsius|centigrade|fahrenheit)\b"
    r"|light[- ]years?\b|nautical miles?\b|astronomical units?\b|metric tons?\b|fluid ounces?\b|fl\.? oz\b"
    r"|(?:business|working|banking|bank|trading|work) days?\b|(?:kilo|mega|giga|milli)?watt[- ]hours?\b|miles an hour\b|electron volts?\b|[^\W\d_¹²³⁰⁴-⁹½¼¾⅐-⅞]+)",
    re.IGNORECASE,
)
_EAST_PIECE = re.compile("|".join(sorted(map(re.escape, _EASTERN), key=len, reverse=True)))
_NOT_AFTER_ARTICLE = frozenset({"h", "s", "m", "g"})


@lru_cache(maxsize=4096)
def _lookup(word: str) -> Unit | None:
    if word in SYMBOLS:
        return SYMBOLS[word]
    lower = word.lower().replace("° ", "°").replace("-", " ").replace("fl. ", "fl ")
    if lower in WORDS:
        return WORDS[lower]
    if lower.replace(" ", "-") in WORDS:
        return WORDS[lower.replace(" ", "-")]
    if word.replace("° ", "°") in SYMBOLS:
        return SYMBOLS[word.replace("° ", "°")]
    return _LOWER_SYMBOLS.get(lower)


def _power(unit: Unit, exponent: int) -> Unit:
    if exponent == 1:
        return unit
    return Unit(
        f"{unit.name}^{exponent}",
        tuple((name, power * exponent) for name, power in unit.dimensions),
        unit.factor**exponent,
    )


def _times(left: Unit, right: Unit, sign: str) -> Unit:
    powers: dict[str, int] = {}
    for name, power in (*left.dimensions, *right.dimensions):
        powers[name] = powers.get(name, 0) + power
    dimensions = tuple(sorted((name, power) for name, power in powers.items() if power))
    return Unit(f"{left.name}{sign}{right.name}", dimensions, left.factor * right.factor)


def _piece(text: str, at: int) -> tuple[Unit, int] | None:
    if text[at : at + 1] > "\u2fff" and (east := _EAST_PIECE.match(text, at)):
        return SYMBOLS[east[0]], east.end()
    hit = _PIECE.match(text, at)
    if not hit:
        return None
    unit = _lookup(hit["unit"])
    end = hit.end()
    if hit["unit"] == "d" and text[end : end + 1] == "'":
        return None
    if unit is None:
        return None
    exponent = 1
    if hit["pre"]:
        exponent = 2 if hit["pre"].lower().startswith("sq") else 3
    elif power := _EXPONENT.match(text, end):
        digits = power[1].translate(_SUPERS)
        follows = text[power.end() : power.end() + 1]
        written = power[0][0] == "^" or not power[1][-1].isascii() or len(hit["unit"]) <= 2
        if (
            digits not in ("-", "")
            and written
            and not follows.isalnum()
            and abs(int(digits)) in (1, 2, 3, 4)
            and not (power[0][0] == "-" and digits[1:] not in ("1", "2", "3"))
        ):
            exponent, end = int(digits), power.end()
    return _power(unit, exponent), end


def read_unit(text: str, at: int) -> tuple[Unit, int] | None:
    """The unit that starts at a place, and where it ends; None where no unit does.

    >>> read_unit("kg/m² today", 0)[0].dimensions
    (('length', -2), ('mass', 1))
    """
    first = _piece(text, at)
    if first is None:
        return None
    unit, end = first
    for _ in range(4):
        over = _PER.match(text, end)
        joined = None if over else _TIMES.match(text, end)
        hit = over or joined
        if hit is None:
            break
        nothing = hit[0].strip() in ("a", "an", "al")
        following = _piece(text, hit.end())
        if following is None or (nothing and text[hit.end() : following[1]] in _NOT_AFTER_ARTICLE):
            break
        if over and unit.dimensions == _TIME and following[0].dimensions == _TIME:
            break  # two hours a day
        other, end = following
        unit = _times(unit, _power(other, -1), "/") if over else _times(unit, other, "·")
    return unit, end
