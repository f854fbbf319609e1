"""Yes, no and "I do not know" in many languages, and what answers say of yes-or-no questions."""

from __future__ import annotations

import pytest

import markscheme
from markscheme.text import declines_abroad, denials_abroad, yes_or_no


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Claro, aceptamos PayPal.", True),
        ("Natürlich, der Versand ist kostenlos.", True),
        ("はい、できます", True),
        ("可以退货。", True),
        ("Конечно!", True),
        ("Correct, it is.", True),
        ("Sure!", True),
        ("Certainly not.", False),
        ("Nein, das geht nicht.", False),
        ("いいえ", False),
        ("不可以。", False),
        ("नहीं", False),
        ("لا", False),
        ("No problem at all", None),
        ("Right now it costs 5 euros", None),
        ("Sicily", None),
        ("Nobel", None),
        ("Jakarta", None),
    ],
)
def test_words_for_yes_and_no(text: str, said: bool | None) -> None:
    assert yes_or_no(text) is said


def test_not_to_know_is_not_to_deny() -> None:
    assert declines_abroad("Das weiß ich leider nicht.")
    assert declines_abroad("わかりません")
    assert not declines_abroad("Der Versand ist nicht kostenlos.")
    assert denials_abroad("Der Versand ist nicht kostenlos.") == 1
    assert denials_abroad("Der Versand ist kostenlos.") == 0


@pytest.mark.parametrize(
    ("question", "reference", "right", "wrong"),
    [
        ("¿Puedo pagar con PayPal?", "Sí", "Claro, aceptamos PayPal.", "No aceptamos PayPal."),
        ("Ist der Versand kostenlos?", "Nein", "Nicht kostenlos, nein.", "Natürlich, kostenlos."),
        ("Peut-on annuler la commande ?", "Oui", "Oui, sans frais.", "On ne peut pas annuler."),
        ("保修期内可以退货吗？", "可以", "可以退货。", "不可以。"),
        ("返品できますか？", "はい", "はい、返品できます。", "返品できません。"),
        ("Включена ли доставка?", "Нет", "Доставка не включена.", "Да, включена."),
        ("O plano inclui suporte?", "Sim", "Inclui, com certeza.", "Não, o plano não inclui."),
    ],
)
def test_the_examiner_reads_yes_and_no(
    question: str, reference: str, right: str, wrong: str
) -> None:
    scores = [markscheme.mark(question, [reference], answer).score for answer in (right, wrong)]
    assert scores[0] > scores[1] + 0.2, scores
    assert scores[1] < 0.5, scores
