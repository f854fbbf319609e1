"""Long numbers and codes: the same in other groups is accepted, and one other digit is not.

Contrast rows by id; their labels were written before any of it was measured. The amounts, dates,
ranges and lists are the opposite errors: what looks like a code in groups and is none.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

import markscheme

PHONE, CUSTOMER = "What is the telephone number of the office?", "What is the customer number?"
ISBN, IBAN = "What is the book's ISBN?", "Which IBAN does the invoice name?"
CARD, ORDER = "Which card number was charged?", "What is the order number?"
LICENCE, SERIAL = "What is the licence code?", "What is the serial number?"
PEOPLE = "How many people live there?"

ACCEPTED = {
    "phone-slash": (PHONE, "030 1234567", "030 / 123 45 67"),
    "phone-hyphen": (PHONE, "030 1234567", "030-1234567"),
    "phone-plain": (PHONE, "030 1234567", "0301234567"),
    "phone-dots": (PHONE, "555-867-5309", "555.867.5309"),
    "phone-brackets": (PHONE, "555-867-5309", "(555) 867-5309"),
    "phone-sentence": (PHONE, "555-867-5309", "You can call us at (555) 867-5309."),
    "phone-free": (PHONE, "0800 7755331", "0800 775 53 31"),
    "phone-abroad": (PHONE, "+49 30 1234567", "+49 (30) 123-4567"),
    "phone-same": (PHONE, "030 1234567", "The office's number is 030 1234567."),
    "phone-seven": (PHONE, "867-5309", "8675309"),
    "customer-same": (CUSTOMER, "12345678", "12345678"),
    "customer-sentence": (CUSTOMER, "12345678", "Your customer number is 12345678."),
    "customer-groups": (CUSTOMER, "12345678", "1234 5678"),
    "customer-hyphen": (CUSTOMER, "1234-5678", "12345678"),
    "isbn-plain": (ISBN, "978-3-16-148410-0", "9783161484100"),
    "isbn-hyphens": (ISBN, "9783161484100", "978-3-16-148410-0"),
    "isbn-named": (ISBN, "9783161484100", "ISBN 978-3-16-148410-0"),
    "isbn-spaces": (ISBN, "978-3-16-148410-0", "978 3 16 148410 0"),
    "iban-plain": (IBAN, "DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
    "iban-groups": (IBAN, "DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
    "iban-sentence": (
        IBAN,
        "DE89370400440532013000",
        "The invoice names the IBAN DE89 3704 0044 0532 0130 00.",
    ),
    "card-hyphens": (CARD, "4111 1111 1111 1234", "4111-1111-1111-1234"),
    "card-plain": (CARD, "4111 1111 1111 1234", "4111111111111234"),
    "order-plain": (ORDER, "302-4418895-7760331", "30244188957760331"),
    "order-spaces": (ORDER, "302-4418895-7760331", "302 4418895 7760331"),
    "licence-plain": (LICENCE, "AB-1234-C", "AB1234C"),
    "licence-hyphens": (LICENCE, "AB1234C", "AB-1234-C"),
    "licence-spaces": (LICENCE, "AB-1234-C", "AB 1234 C"),
    "serial-plain": (SERIAL, "SN-4F7-2291-K8", "SN4F72291K8"),
    "insurance-plain": ("What is her insurance number?", "078-05-1120", "078051120"),
    "amount-plain": (PEOPLE, "8,336,817", "8336817"),
    "amount-spaces": (PEOPLE, "1,234,567", "1 234 567"),
    "amount-rounded": (PEOPLE, "8,336,817", "about 8.3 million"),
    "date-written": ("When was it signed?", "2024-01-17", "17 January 2024"),
    "date-slashes": ("When was it signed?", "17.01.2024", "17/01/2024"),
    "range-words": ("What ages is it for?", "12-15", "12 to 15"),
    "years-words": ("Which years did he serve?", "2015-2019", "from 2015 to 2019"),
    "list-commas": ("Which numbers were drawn?", "12 34 56 78", "12, 34, 56, 78"),
    "list-spaces": ("Which numbers were drawn?", "1, 2, 3, 4, 5, 6, 7", "1 2 3 4 5 6 7"),
}
REJECTED = {
    "customer-swapped": (CUSTOMER, "12345678", "12345687"),
    "customer-swapped-sentence": (CUSTOMER, "12345678", "Your customer number is 12345687."),
    "customer-shorter": (CUSTOMER, "12345678", "1234567"),
    "customer-longer": (CUSTOMER, "12345678", "123456789"),
    "customer-two": (CUSTOMER, "12345678", "12345678 or 12345687"),
    "customer-groups-swapped": (CUSTOMER, "12345678", "1234 5687"),
    "number-swapped": ("Which number does the song repeat?", "8675309", "8675390"),
    "day-swapped": ("What is the file's date stamp?", "20240117", "20240171"),
    "phone-free-swapped": (PHONE, "0800 7755331", "0800 7755313"),
    "phone-swapped": (PHONE, "030 1234567", "030 1234576"),
    "phone-hyphen-swapped": (PHONE, "030 1234567", "030-1234576"),
    "phone-groups-swapped": (PHONE, "030 1234567", "030 / 123 45 76"),
    "phone-prefix": (PHONE, "030 1234567", "040 1234567"),
    "phone-prefix-groups": (PHONE, "030 1234567", "040 / 123 45 67"),
    "phone-shorter": (PHONE, "030 1234567", "030 123456"),
    "phone-longer": (PHONE, "030 1234567", "030 12345678"),
    "phone-no-prefix": (PHONE, "0800 7755331", "7755331"),
    "phone-brackets-swapped": (PHONE, "555-867-5309", "(555) 876-5309"),
    "phone-two": (PHONE, "030 1234567", "030 1234567 or 030 7654321"),
    "phone-denied": (PHONE, "030 1234567", "It is not 030 1234567 but 030 7654321."),
    "isbn-swapped": (ISBN, "978-3-16-148410-0", "9783161484010"),
    "isbn-prefix": (ISBN, "978-3-16-148410-0", "979-3-16-148410-0"),
    "isbn-shorter": (ISBN, "9783161484100", "978-3-16-148410"),
    "iban-swapped": (IBAN, "DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0310 00"),
    "iban-plain-swapped": (IBAN, "DE89 3704 0044 0532 0130 00", "DE89370400440532031000"),
    "iban-shorter": (IBAN, "DE89370400440532013000", "DE89 3704 0044 0532 0130 0"),
    "iban-country": (IBAN, "DE89370400440532013000", "FR89 3704 0044 0532 0130 00"),
    "card-digit": (CARD, "4111 1111 1111 1234", "4111-1111-1111-1243"),
    "card-plain-digit": (CARD, "4111 1111 1111 1234", "4111111111111224"),
    "order-swapped": (ORDER, "302-4418895-7760331", "302-4418895-7760313"),
    "order-plain-swapped": (ORDER, "302-4418895-7760331", "30244188957760313"),
    "licence-swapped": (LICENCE, "AB-1234-C", "AB1243C"),
    "licence-letter": (LICENCE, "AB-1234-C", "AB1234D"),
    "licence-letters-swapped": (LICENCE, "AB-1234-C", "BA1234C"),
    "serial-swapped": (SERIAL, "SN-4F7-2291-K8", "SN4F72219K8"),
    "insurance-swapped": ("What is her insurance number?", "078-05-1120", "078051102"),
    "amount-swapped": (PEOPLE, "8,336,817", "8,336,871"),
    "amount-spaces-swapped": (PEOPLE, "1,234,567", "1 234 576"),
    "money-swapped": ("What did it cost?", "$1,234,567", "$1,234,576"),
    "date-swapped": ("When was it signed?", "17.01.2024", "17.10.2024"),
    "range-glued": ("What ages is it for?", "12-15", "1215"),
    "years-swapped": ("Which years did he serve?", "2015-2019", "2015-2091"),
    "list-glued": ("Which numbers were drawn?", "1, 2, 3, 4, 5, 6, 7", "1234567"),
    "list-swapped": ("Which numbers were drawn?", "12 34 56 78", "12 34 56 87"),
    "address-glued": ("What is the server's IP address?", "192.168.100.200", "192168100200"),
    "address-other": ("What is the server's IP address?", "192.168.100.200", "192.168.100.201"),
    "build-swapped": ("Which build is installed?", "10.0.19045", "10.0.19054"),
    "decimal-glued": ("What is pi?", "3.1415926", "31415926"),
    "fraction-glued": ("What is the risk?", "1/1000000", "11000000"),
    "score-swapped": ("What was the score?", "6-4 3-6 7-6 7-5", "6-4 3-6 7-6 5-7"),
}
MISSED = {
    "years-glued": ("Which years did he serve?", "2015-2019", "20152019"),
}
"""Other numbers too, which the examiner accepts: what rejects one of them moves it up."""


def verdicts(rows: Mapping[str, tuple[str, str, str]], judge: str) -> dict[str, bool]:
    """The verdict on each row."""
    answers = [
        {"answer_id": name, "question": question, "references": [reference], "answer": answer}
        for name, (question, reference, answer) in rows.items()
    ]
    judged = markscheme.judge(answers, judge).judgments
    return dict(judged.select("answer_id", "verdict").iter_rows())


@pytest.mark.parametrize("judge", ["examiner", "examiner(depth=fast)"])
def test_a_number_in_other_groups_is_the_same(judge: str) -> None:
    found = verdicts(ACCEPTED, judge)
    assert [name for name, accepted in found.items() if not accepted] == []


@pytest.mark.parametrize("judge", ["examiner", "examiner(depth=fast)"])
def test_one_other_digit_is_another_number(judge: str) -> None:
    found = verdicts(REJECTED, judge)
    assert [name for name, accepted in found.items() if accepted] == []


def test_what_is_missed_is_known() -> None:
    assert all(verdicts(MISSED, "examiner").values())


def test_no_sentence_says_that_a_number_contains_another() -> None:
    rows = [{"question": CUSTOMER, "references": ["12345678"], "answer": "12345687"}]
    judged = markscheme.judge(pl.DataFrame(rows), "examiner").judgments
    assert "contains" not in judged["explanation"][0]
    assert "12345687 where the reference has 12345678" in judged["explanation"][0]
