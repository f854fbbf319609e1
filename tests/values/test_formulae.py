"""Formulae of answers compared with those of references, in LaTeX and in plain writing."""

from __future__ import annotations

import polars as pl
import pytest

from markscheme.text import without_latex, without_latex_series
from markscheme.values import Outcome, compare_values

EQUAL = [
    ("Solve.", "x = 3", r"\boxed{3}"),
    ("Compute.", r"\sqrt{12}", r"2\sqrt{3}"),
    ("Compute the limit.", r"1 - \frac{1}{e}", "$1-1/e$"),
    ("What is the area?", r"\frac{3}{4}\pi", r"0.75\pi"),
    ("Find x.", r"x=\frac{-1+\sqrt{5}}{2}", r"\frac{\sqrt{5}-1}{2}"),
    ("Expand.", "x^2+2x+1", "(x+1)^2"),
    ("Integrate.", r"\frac{x^2}{2}+C", "x^2/2 + C"),
    ("Integrate.", r"\frac{x^2}{2}+C", "x^2/2 + c"),
    ("Interval?", "[0, 1)", r"0 \le x < 1"),
    ("Compute.", r"\dfrac{1}{2}", "0.5"),
    ("Compute.", "10^{-3}", "0.001"),
    ("Compute.", "2^{10}", "1024"),
    ("Solve.", r"\{1, 2\}", "x=1 or x=2"),
    ("Compute.", r"e^{i\pi}", "-1"),
    ("Compute.", r"\log_2 8", "3"),
    ("Compute.", r"\ln 2", r"\log 2"),
    ("Compute.", r"\log 100", "2"),
    ("Compute.", "5!", "120"),
    ("Compute.", r"\binom{5}{2}", "10"),
    ("Compute.", r"\infty", "infinity"),
    ("Compute.", r"-\frac{7}{2}", "-3.5"),
    ("Angle?", r"45^\circ", "45 degrees"),
    ("Angle?", r"\frac{\pi}{4}", r"45^\circ"),
    ("Vector?", r"\begin{pmatrix}1\\2\end{pmatrix}", "(1, 2)"),
    ("Matrix?", r"\begin{bmatrix}1 & 2\\3 & 4\end{bmatrix}", "((1, 2), (3, 4))"),
    ("What is the probability?", "3/4", r"The answer is $\boxed{\frac{3}{4}}$."),
    ("Solve x^2 = 9.", "x = 3 or x = -3", "x=3 or x=-3"),
    ("Solve x^2 = 9.", r"x = \pm 3", "Therefore, the solutions are $x = 3$ and $x = -3$."),
    ("Solve x^2 = 9.", r"\{-3, 3\}", "3 and -3"),
    ("Compute.", r"\sqrt{12}", r"**$2\sqrt{3}$**"),
    ("What is the golden ratio?", r"\frac{1+\sqrt{5}}{2}", "approximately 1.618"),
    ("What is the golden ratio?", "(1+√5)/2", r"$\frac{1+\sqrt5}{2} \approx 1.618$"),
    ("What is the share?", r"$\frac{1}{2}$", "50%"),
    ("How long is it?", r"2\frac{1}{2}", "2.5"),
    ("Domain?", r"(-\infty, 3]", r"$x \leq 3$"),
    ("Domain?", r"(-\infty, 1) \cup (3, \infty)", "x < 1 or x > 3"),
    ("Domain?", r"\mathbb{R}", "all real numbers"),
    ("Range?", r"y \in [0, 1]", r"$[0,1]$"),
    ("Differentiate.", r"f'(x) = 2x\cos(x^2)", r"$2x \cos(x^2)$"),
    ("Give the line.", "y = 2x + 1", r"\(f(x) = 2x + 1\)"),
    ("Compute.", r"0.\overline{3}", r"\frac13"),
    ("Compute.", r"\sqrt[3]{27}", "3"),
    ("Probability?", "P(A) = 0.25", r"\[\frac{1}{4}\]"),
    ("Simplify.", r"\frac{6}{4}", r"$\frac{6}{4} = \frac{3}{2}$"),
    ("Distance?", "5 km", r"5\text{ km}"),
    ("How fast is light?", r"3 \times 10^8\ \text{m/s}", "300,000,000 m/s"),
    ("Share?", r"12.5\%", "12.5%"),
    ("Solve.", "x = 4", "First we get 2x + 3 = 11 and 2x = 8. So x = 4."),
    ("How many?", "5", "5!"),
]
DIFFERENT = [
    ("Compute the limit.", r"1 - \frac{1}{e}", r"1 + \frac{1}{e}"),
    ("Compute the limit.", r"1 - \frac{1}{e}", "1"),
    ("What is the area?", r"\frac{3}{4}\pi", r"\frac{4}{3}\pi"),
    ("Find x.", r"x=\frac{-1+\sqrt{5}}{2}", r"\frac{\sqrt{5}+1}{2}"),
    ("Expand.", "x^2+2x+1", "(x-1)^2"),
    ("Interval?", "[0,1)", "[0,1]"),
    ("Interval?", "[0,1)", "0 < x < 1"),
    ("Domain?", "x > 5", r"x \ge 5"),
    ("Domain?", r"(-\infty, 1) \cup (3, \infty)", "1 < x < 3"),
    ("Compute.", r"\dfrac{1}{2}", "1/3"),
    ("Solve.", r"\{1,2\}", r"\{1,3\}"),
    ("Compute.", r"3\sqrt{2}", r"3\sqrt{3}"),
    ("Compute.", r"\log_2 8", "4"),
    ("Compute.", "5!", "60"),
    ("Compute.", r"\binom{5}{2}", "20"),
    ("Compute.", r"\infty", r"-\infty"),
    ("Vector?", r"\begin{pmatrix}1\\2\end{pmatrix}", "(2, 1)"),
    ("Vector?", "(1, 2)", "(1, 2, 3)"),
    ("Angle?", r"\frac{\pi}{4}", r"60^\circ"),
    ("What is the golden ratio?", r"\frac{1+\sqrt{5}}{2}", "approximately 1.628"),
    ("What is the probability?", r"\frac{3}{4}", r"The answer is $\boxed{\frac{4}{3}}$."),
    ("Solve x^2 = 9.", "x = 3 or x = -3", "x = 3 or x = -2"),
    ("Differentiate.", r"f'(x) = 2x\cos(x^2)", r"$2x \sin(x^2)$"),
    ("Give the line.", "y = 2x + 1", "y = 2x - 1"),
    ("Compute.", r"2\sqrt{3}", r"\sqrt[3]{2}"),
    ("Compute.", r"\frac{1}{2x}", r"\frac{x}{2}"),
    ("Share?", r"12.5\%", r"1.25\%"),
]
NOT_EQUAL = [
    ("Solve x^2 = 9.", "x = 3 or x = -3", "x = 3"),
    ("Interval?", "(1, 2)", "[1, 2]"),
    ("Compute.", r"1 - \frac{1}{e}", "The answer is not 1 - 1/e."),
    ("Solve.", "x = 3", "y = 3"),
]
UNCHANGED = [
    "It costs $5 and $10.",
    "between $5 and $6, or $ 7",
    "$5-$10",
    "$5/$6 a share, US$7 and A$8",
    "$HOME/$USER and $PATH",
    "echo $x; echo $y",
    "C:\\temp\\new",
    "C:\\times\\pi\\alpha",
    "..\\in\\to",
    "\\\\server\\alpha\\beta",
    "\\d+\\s*\\w+",
    "\\(\\d+\\)",
    "\\[0-9\\]",
    "a\\tb\\nc",
    "re.sub(r'\\times', x)",
    "print('a\\to b')",
    "`\\frac{1}{2}`",
    "```\n\\pi $x$\n```",
    '{"a": "\\frac{1}{2}"}',
    "H_2O and x_1 {see below}",
    "\\frac",
    "\\",
    "",
]
WRITTEN = {
    r"The answer is $\boxed{\frac{3}{4}}$.": "The answer is 3/4.",
    r"costs $5. So $\frac12$ of it": "costs $5. So 1/2 of it",
    r"$\frac{\frac{1}{2}}{3}$": "(1/2)/3",
    r"\frac{a+b}{c}": "(a+b)/c",
    r"x^{2n+1} \ne x^{2}": "x^(2n+1) ≠ x^2",
    r"\left(\frac{1}{2}\right)^{2}": "(1/2)^2",
    r"2\sin x\cos\theta": "2 sin x cos θ",
    r"$\text{H}_2\text{O}$": "H2O",
    r"$10{,}000$": "10,000",
    r"4^{\text{th}}": "4th",
    r"\$5 and 50\%": "$5 and 50%",
    r"\(a \in \mathbb{R}\)": "a ∈ ℝ",
    r"\begin{cases} x=1 \\ y=2 \end{cases}": "x=1\ny=2",
}


@pytest.mark.parametrize(("question", "reference", "answer"), EQUAL)
def test_equal_formulae_agree(question: str, reference: str, answer: str) -> None:
    assert compare_values(question, reference, answer).outcome is Outcome.AGREE


@pytest.mark.parametrize(("question", "reference", "answer"), DIFFERENT)
def test_other_formulae_conflict(question: str, reference: str, answer: str) -> None:
    assert compare_values(question, reference, answer).outcome is Outcome.CONFLICT


@pytest.mark.parametrize(("question", "reference", "answer"), NOT_EQUAL)
def test_what_is_less_or_unclear_does_not_agree(question: str, reference: str, answer: str) -> None:
    assert compare_values(question, reference, answer).outcome is not Outcome.AGREE


@pytest.mark.parametrize("text", UNCHANGED)
def test_what_is_no_latex_stays(text: str) -> None:
    assert without_latex(text) == text


@pytest.mark.parametrize(("text", "plain"), WRITTEN.items())
def test_latex_becomes_plain(text: str, plain: str) -> None:
    assert without_latex(text) == plain
    assert without_latex(plain) == plain


def test_columns() -> None:
    texts = pl.Series("a", [r"$\pi$", None, "yes"])
    assert without_latex_series(texts).to_list() == ["π", None, "yes"]
    lists = pl.Series("r", [[r"\frac12", None], None, []])
    assert without_latex_series(lists).to_list() == [["1/2", None], None, []]
    plain = pl.Series("a", ["$5", "no"])
    assert without_latex_series(plain) is plain


@pytest.mark.parametrize(
    "text",
    [
        "\\frac" * 9000,
        "\\sqrt{" * 9000,
        "\\frac{" * 9000,
        "$" * 40_000,
        "\\(" * 40_000,
        "x^{" * 30_000,
        "{" * 40_000 + "\\pi",
        "\\begin{" * 9000,
        "(1," * 600,
        "[0," * 600 + "1)",
        "x<" * 900,
        "C(" * 90,
        "9!!!!!!!!",
        "170!^170!",
    ],
)
def test_hostile_input_ends(text: str) -> None:
    assert isinstance(without_latex(text), str)
    assert compare_values("Solve.", "x = 3", text).outcome is not Outcome.AGREE
    assert compare_values("Solve.", text[:300], "x = 3").outcome is not Outcome.AGREE
