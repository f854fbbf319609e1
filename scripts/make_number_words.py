"""Write `values/number_words.json`: numbers in words of other languages, as num2words spells them.

pip install num2words; python scripts/make_number_words.py [--check]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from num2words import num2words

LANGUAGES = ("de", "fr", "es", "it", "pt", "nl", "ru", "tr", "pl", "id", "sv", "ar")
NUMBERS = (*range(2, 101), *range(200, 1000, 100))
AMBIGUOUS = frozenset({"on", "sex"})
"""Common words of another of the languages ("on" is Turkish for ten and French for one)."""
WRITTEN = Path(__file__).parents[1] / "src" / "markscheme" / "values" / "number_words.json"


def number_words() -> dict[str, int]:
    """The words in lower case, hyphens as spaces, and what they count."""
    found: dict[str, int] = {}
    for language in LANGUAGES:
        for number in NUMBERS:
            words = num2words(number, lang=language).lower().replace("-", " ")
            if found.setdefault(words, number) != number:
                raise ValueError(f"{words!r} is {found[words]} and {number}")
    return {words: number for words, number in sorted(found.items()) if words not in AMBIGUOUS}


def main() -> None:
    """Write the file, or with `--check` exit with 1 if it is not what would be written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    text = json.dumps(number_words(), ensure_ascii=False, indent=0) + "\n"
    if parser.parse_args().check:
        raise SystemExit(WRITTEN.read_text(encoding="utf-8") != text)
    WRITTEN.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
