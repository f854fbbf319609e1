"""Words for the period that a price, a rate or a repetition refers to."""

PERIODS: dict[str, str] = {
    "annum": "year",
    "a": "year",
    "a.": "year",
    "annually": "year",
    "yearly": "year",
    "years": "year",
    "yr": "year",
    "quarterly": "quarter",
    "monthly": "month",
    "mo": "month",
    "fortnightly": "fortnight",
    "weekly": "week",
    "daily": "day",
    "nightly": "day",
    "hourly": "hour",
}
"""The period of an adverb or abbreviation: `per annum`, `monthly`, `p.a.`."""
