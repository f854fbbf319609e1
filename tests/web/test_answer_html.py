from __future__ import annotations

import sys
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, __file__.rpartition("/")[0])
from answer_gallery import GALLERY
from markscheme.web import answer_style, has_markup, plain_answer, render_answer
from markscheme.web.answer_html import _ATTRIBUTES, _ELEMENTS

ELEMENTS = _ELEMENTS | {
    "p", "br", "strong", "em", "s", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "div",
    "span", "bdi", "mark", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES = _ATTRIBUTES | {"dir", "class", "start", "title", "role", "aria-label", "tabindex"}
VOID = {"br", "hr"}


class Read(HTMLParser):
    """What a fragment is made of, and what is read in it."""

    def __init__(self, fragment: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(fragment)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attributes}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "every element is closed where it was opened"

    def handle_data(self, data: str) -> None:
        self.text += data


def safe(fragment: str) -> Read:
    read = Read(fragment)
    assert read.elements <= ELEMENTS, read.elements - ELEMENTS
    assert read.attributes <= ATTRIBUTES, read.attributes - ATTRIBUTES
    assert not read.open
    return read


@pytest.mark.parametrize(
    ("text", "wanted"), [(t, w) for _, t, w in GALLERY], ids=[n for n, _, _ in GALLERY]
)
def test_a_hard_answer_is_shown_safely_and_says_what_it_said(
    text: str, wanted: tuple[str, ...]
) -> None:
    read = safe(render_answer(text))
    for part in wanted:
        assert part in read.text
    raw = safe(plain_answer(text))
    assert raw.text == text


def test_the_gallery_has_sixty_answers_of_different_names() -> None:
    assert len({name for name, _, _ in GALLERY}) == len(GALLERY) == 60


def test_markdown_is_shown_as_what_it_means() -> None:
    found = render_answer("It is **Paris**:\n\n| a | b |\n|---|---|\n| 1 | `x` |\n\n- one\n- two")
    for element in ("<strong>Paris</strong>", "<table", "<th", "<li>", '<code dir="ltr">x</code>'):
        assert element in found


def test_a_text_without_markup_needs_no_rendering() -> None:
    for text in ("Paris", "It was built in 1889 (by Eiffel).\nReally.", "a < b", "10 - 5"):
        assert not has_markup(text)
        assert safe(render_answer(text)).text.split() == text.split()
    for text in ("**b**", "`c`", "| a |\n|---|\n| 1 |", "- x\n- y", r"\(x\)", "$x$", "[a](b)"):
        assert has_markup(text)


def test_what_markdown_would_drop_is_shown_as_it_was_written() -> None:
    for text in (
        "| a | b |\n|---|---|\n| 1 | 2 | third |",
        "[text](https://example.org 'a title')\nmore",
        "> " * 300 + "deep\nend",
    ):
        assert safe(render_answer(text)).text == text


def test_marks_stand_at_their_words() -> None:
    text = "It is **Paris**, in the *Republic* of `France`."
    spans = [(text.index(word), text.index(word) + len(word)) for word in ("Paris", "France")]
    found = render_answer(text, spans)
    assert "<strong><mark>Paris</mark></strong>" in found
    assert '<code dir="ltr"><mark>France</mark></code>' in found
    assert plain_answer(text, spans).count("<mark>") == 2


def test_formulae_become_mathml() -> None:
    pytest.importorskip("latex2mathml")
    found = render_answer(r"so \(\frac{1}{2}\) and $x_1^2$ holds")
    assert found.count("<math ") == 2
    assert "<mfrac>" in found
    assert "<msubsup>" in found


def test_formulae_stay_readable_where_the_library_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "latex2mathml.converter", None)
    assert r'<code class="latex" dir="ltr">\(\frac{1}{2}\)</code>' in render_answer(
        r"so \(\frac{1}{2}\)"
    )


pieces = st.sampled_from(
    ["*", "**", "_", "`", "```", "~~", "$", "$$", "\\(", "\\)", "\\[", "\\]", "[", "](", ")", "!",
     "<", ">", "<script>", "&", '"', "'", "\n", "\n\n", "|", "---", "- ", "# ", "1. ", "> ", "a",
     "5", " ", "\\frac{", "}", "\\text{", "\\href{", "\ue000", "\ue001", "\ue0040\ue005", "é", "م"]
)  # fmt: skip


@given(st.lists(pieces, max_size=40).map("".join), st.lists(st.integers(0, 60), max_size=6))
def test_nothing_that_is_written_makes_another_element(text: str, places: list[int]) -> None:
    ordered = sorted(set(places))
    marks = list(zip(ordered[::2], ordered[1::2], strict=False))
    safe(render_answer(text, marks))
    safe(plain_answer(text, marks))


HOSTILE = ("*", "**a", "`", "[", "](", "$", "$$", "\\[", "> ", "- ", "|a", "~~~", "<", "![", "_a*")


@pytest.mark.proof(area="attacks")
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_answer_of_any_length_is_shown(piece: str) -> None:
    for text in (piece * (100_000 // len(piece)), (piece + "\n") * (60_000 // len(piece))):
        safe(render_answer(text))


def test_the_style_sheet_loads_nothing() -> None:
    assert "url(" not in answer_style()
    assert "@import" not in answer_style()
