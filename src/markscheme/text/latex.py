r"""LaTeX as plain mathematics: `\frac{3}{4}\pi` is (3/4)π, for every reader of words and values.

Only what is LaTeX beyond doubt is changed: amounts of money, paths, regular expressions, escapes
and code stay as they are. One pass, linear in the text; nothing is executed.
"""

from __future__ import annotations

import re

import polars as pl

from markscheme.text.normalisation import mapped_series

_DEEPEST = 40
_LONGEST = 100_000
_GREEK = (
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta θ iota ι "
    "kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ "
    "omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω hbar ħ ell l"
)
_RELATIONS = (
    "le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ lt < gt > approx ≈ simeq ≈ sim ~ "
    "equiv ≡ cong ≅ propto ∝ in ∈ notin ∉ subset ⊂ subseteq ⊆ cup ∪ cap ∩ setminus \\ pm ± mp ∓ "
    "cdot · times × div ÷ ast * star * to → rightarrow → longrightarrow → Rightarrow ⇒ implies ⇒ "
    "iff ⇔ Leftrightarrow ⇔ rightleftharpoons ⇌ leftarrow ← mid | parallel ∥ perp ⊥ colon : "
    "land ∧ wedge ∧ lor ∨ vee ∨ lnot ¬ neg ¬ forall ∀ exists ∃ therefore ∴ because ∵ oplus ⊕ "
    "otimes ⊗ circ ∘ bullet •"
)
_OTHERS = (
    "infty infinity degree ° emptyset ∅ varnothing ∅ partial ∂ nabla ∇ int ∫ oint ∮ sum ∑ prod ∏ "
    "ldots ... dots ... cdots ... vdots ... langle ( rangle ) lbrace { rbrace } lbrack [ rbrack ] "
    "lvert | rvert | vert | lVert ‖ rVert ‖ Vert ‖ angle ∠ triangle △ prime ' dagger † "
    "lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ pounds £ euro € checkmark ✓ square □ blacksquare ■ "
    "textdegree ° percent % Re Re Im Im"
)
_FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log lg exp lim max min sup inf "
    "det gcd lcm deg dim ker arg mod".split()
)


def _pairs(table: str) -> dict[str, str]:
    words = table.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_LETTERS, _OPERATORS = _pairs(_GREEK), _pairs(_RELATIONS)
_SYMBOLS = (
    _LETTERS
    | _OPERATORS
    | _pairs(_OTHERS)
    | {"quad": " ", "qquad": " ", "bmod": " mod ", "newline": "\n", "par": "\n"}
)
_NUMBER_SETS = dict(zip("NZQRC", "ℕℤℚℝℂ", strict=True))
_DROPPED = frozenset(
    "left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr displaystyle "
    "textstyle scriptstyle limits nolimits nonumber hline centering Large large rm bf it".split()
)
_UNWRAPPED = frozenset(
    "text textrm textbf textit texttt textsf textnormal emph underline mathrm mathbf mathit mathsf "
    "mathtt mathcal mathbb mathfrak boldsymbol bm operatorname mbox hbox boxed fbox ce hat vec bar "
    "tilde widehat overrightarrow overbrace underbrace dot ddot pmb mathord mathop substack".split()
)
_FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "nicefrac"})
_CHOICES = frozenset({"binom", "dbinom", "tbinom"})
_SPECIAL = _FRACTIONS | _CHOICES | {"sqrt", "overline", "pmod", "begin", "end"}
_NEED_A_GROUP = _UNWRAPPED | {"begin", "end", "overline", "pmod"}
_KNOWN = frozenset(_SYMBOLS) | _FUNCTIONS | _DROPPED | _UNWRAPPED | _SPECIAL
_FACTORS = frozenset(_LETTERS) | _FUNCTIONS | _SPECIAL - {"end"}
_JOINED = frozenset({"(", "^", "!"})
"""What makes a fraction next to it need brackets."""
_SPACES = dict.fromkeys(",:; >", " ") | {"!": "", "\\": "\n"}
_TUPLES = frozenset({"pmatrix", "bmatrix", "matrix", "smallmatrix", "Bmatrix", "array"})

_REGION = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)"
    r"|(?<![\\\w$])\$\$(?P<display>[^$]+)\$\$"
    r"|(?<![\\\w$])\$(?P<inline>(?:\\.|[^$\\\n])+)\$(?![\w$])"
    r"|(?<!\\)\\\((?P<round>(?:[^\\]|\\[^()])*)\\\)"
    r"|(?<!\\)\\\[(?P<square>(?:[^\\]|\\[^\[\]])*)\\\]",
    re.DOTALL,
)
_COMMAND = re.compile(r"\\([A-Za-z]+|.)(\s*\{)?", re.DOTALL)
_NO_LATEX = re.compile(
    r"(?:\b[A-Za-z]:|%\w+%|(?:^|[\s\"'(])(?:\\|\.{1,2}))\\\w+\\\w"  # paths
    r"|(?:(?<!\w)|(?<=\br))([\"'])[^\"'\n\\]*\\[A-Za-z][^\"'\n]*\1"  # strings of a program
)
_WORD = re.compile(r"[A-Za-z]{2,}")
_WITHOUT_COMMANDS = re.compile(r"^\s*\\\{[^{}]*\\\}\s*\.?\s*$|[\w)\]]\^\{[^{}]*\}")
_ESCAPED = re.compile(r"(?<=\d)\s?\\(%)|(?<!\\)\\(\$)(?=\d)|(?<=\d)\\,(?=\d{3})")
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_ATOM = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|[^\W\d_]|infinity)")
_SIMPLE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:\^\d)?|sqrt\([^()]*\)")
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_REPEATED = 12
"""Decimals to which a repeating decimal is written out."""


class _UnreadableError(ValueError):
    pass


def without_latex(text: str) -> str:
    r"""A text with its LaTeX written as plain mathematics; most are returned as they are.

    Formulae are between ``$``, ``\(`` or ``\[``, and texts whose every backslash
    begins a command of LaTeX.

    >>> without_latex(r"The area is $\frac{3}{4}\pi r^{2}$."), without_latex("$5 and $10")
    ('The area is (3/4)π r^2.', '$5 and $10')
    """
    marked = "\\" in text or "^{" in text or text.count("$") > 1
    if not marked or len(text) > _LONGEST:
        return text
    try:
        written = _without(text)
    except _UnreadableError:
        return text
    return written if written.strip() else text


def without_latex_series(texts: pl.Series) -> pl.Series:
    """The same of a column of texts, or of lists of texts."""
    return mapped_series(texts, r"\\|\$[^$]+\$|\^\{", without_latex)


def _without(text: str) -> str:
    written: list[str] = []
    begin = at = 0
    while hit := _REGION.search(text, at):
        at = hit.end()
        if hit.lastgroup == "code":
            written += (_bare(text[begin : hit.start()]), hit[0])
        elif _is_formula(content := hit[hit.lastgroup or 0], hit.lastgroup):
            formula = re.sub(r" {2,}", " ", _Writer(content, bare=False).all()).strip()
            written += (_bare(text[begin : hit.start()]), formula)
        else:
            at = hit.start() + 1
            continue
        begin = at
    return "".join(written) + _bare(text[begin:])


def _is_formula(content: str, region: str | None) -> bool:
    """Whether what is between marks of a formula is one, and neither money nor a pattern."""
    commands = _COMMAND.findall(content)
    if any(name.isalpha() for name, _ in commands):
        return _all_known(commands)
    if region == "square" and not re.search(r"[=^\s<>+*/]", content):
        return False
    words = [word for word in _WORD.findall(content) if word not in _FUNCTIONS]
    spaced = " " in content.strip()
    return bool(re.search(r"\w", content)) and not any(len(word) > 2 or spaced for word in words)


def _all_known(commands: list[tuple[str, str]]) -> bool:
    return all(
        name in _KNOWN and (bool(group) or name not in _NEED_A_GROUP)
        for name, group in commands
        if name.isalpha()
    )


def _bare(text: str) -> str:
    """What is outside of marks: LaTeX only where all of its backslashes are."""
    if "\\" not in text and "^{" not in text:
        return text
    if "\\begin{" not in text and _NO_LATEX.search(text):
        return text
    commands = _COMMAND.findall(text)
    if not _all_known(commands):
        return text
    if any(name.isalpha() for name, _ in commands) or _WITHOUT_COMMANDS.search(text):
        return _Writer(text, bare=True).all()
    return _ESCAPED.sub(lambda hit: hit[1] or hit[2] or " ", text)


class _Writer:
    """Writes LaTeX as plain text, piece by piece; `bare` keeps braces that belong to no command."""

    def __init__(self, text: str, *, bare: bool) -> None:
        self.tokens = _TOKEN.findall(text)
        self.bare = bare
        self.place = self.depth = 0

    def all(self) -> str:
        return self.until(())

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def until(self, ends: tuple[str, ...]) -> str:
        """What is written up to one of the tokens, which is left to be read."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _UnreadableError
        written = ""
        parts: list[str] = []
        while (piece := self.peek()) and piece not in ends:
            self.place += 1
            parts.append(self.unit(piece, written))
            written = parts[-1] or written
        self.depth -= 1
        return "".join(parts)

    def unit(self, piece: str, before: str) -> str:
        """One piece with its arguments; `before` is what was written just before."""
        if piece in ("^", "_"):
            return self.script(piece, before)
        if piece == "{":
            return self.braces()
        if piece == "}":
            return piece if self.bare else ""
        if piece == "~" and not self.bare:
            return " "
        if piece[0] != "\\" or len(piece) == 1:
            return piece
        name = piece[1:]
        if not name.isalpha():
            return _SPACES.get(name, name)
        return self.command(name, before)

    def braces(self) -> str:
        content = self.until(("}",))
        closed = self.peek() == "}"
        self.place += closed
        if self.bare:
            return "{" + content + "}" * closed
        return f"({content})" if self.peek() == "^" and not _ATOM.fullmatch(content) else content

    def argument(self) -> str:
        """The next group, command or character."""
        while self.peek().isspace():
            self.place += 1
        piece = self.peek()
        self.place += 1
        if piece == "{":
            content = self.until(("}",))
            self.place += 1
            return content.strip()
        self.depth += 1
        if not piece or self.depth > _DEEPEST:
            raise _UnreadableError
        content = self.unit(piece, "")
        self.depth -= 1
        return content

    def script(self, piece: str, before: str) -> str:
        indexed = piece == "_" and before[-1:].isupper()
        if indexed and not self.bare and self.peek().isdigit():
            return ""  # H2O
        if self.peek() not in ("{", "\\circ", "\\prime", "\\degree", "\\ast"):
            return piece
        content = self.argument()
        if piece == "^" and content in ("∘", "°", "'", *_ORDINAL):
            return "°" if content == "∘" else content
        if indexed and content.isdigit():
            return content
        return f"{piece}{content}" if _ATOM.fullmatch(content) else f"{piece}({content})"

    def command(self, name: str, before: str) -> str:
        if name in _UNWRAPPED:
            content = self.unwrapped()
            return _NUMBER_SETS.get(content, content) if name == "mathbb" else content
        if name in _DROPPED:
            self.place += self.peek() == "." and name in ("left", "right")
            return ""
        if name in _SPECIAL:
            return self.special(name, before)
        word = _SYMBOLS.get(name, name)
        if not word.isalpha() or len(word) == 1:
            return word
        return self.spaced(word, before)

    def unwrapped(self) -> str:
        if self.peek() == "*":
            self.place += 1
        while self.peek().isspace():
            self.place += 1
        if self.peek() != "{":
            return self.argument()
        self.place += 1
        content = self.until(("}",))
        self.place += 1
        return content

    def spaced(self, word: str, before: str) -> str:
        following = self.peek()
        ahead = " " if before[-1:].isalnum() else ""
        behind = " " if following[:1].isalnum() or following[1:].isalpha() else ""
        return f"{ahead}{word}{behind}"

    def special(self, name: str, before: str) -> str:
        if name in _FRACTIONS:
            return self.fraction(before, self.argument(), self.argument())
        if name in _CHOICES:
            return self.spaced("C", before) + f"({self.argument()}, {self.argument()})"
        if name == "sqrt":
            return self.root(before)
        if name == "overline":
            return self.overline(before)
        if name == "pmod":
            return f" (mod {self.argument()})"
        if name == "begin":
            return self.environment(self.argument())
        self.argument()  # an \end without its \begin
        return ""

    def fraction(self, before: str, top: str, bottom: str) -> str:
        written = "/".join(
            part if _SIMPLE.fullmatch(part) else f"({part})" for part in (top, bottom)
        )
        last = before[-1:]
        if last.isdigit() and top.isdigit() and bottom.isdigit():
            return f" {written}"  # a mixed number
        ahead = self.place
        while ahead < len(self.tokens) and self.tokens[ahead] in (" ", "\\,", "\\left"):
            ahead += 1
        factor = self.tokens[ahead][1:] if ahead < len(self.tokens) else ""
        near = self.peek()
        joined = last.isalnum() or last in (")", "^", "/") or near.isalnum() or near in _JOINED
        return f"({written})" if joined or factor in _FACTORS else written

    def root(self, before: str) -> str:
        degree = ""
        if self.peek() == "[":
            self.place += 1
            degree = self.until(("]",))
            self.place += 1
        content = self.argument()
        if not degree:
            return self.spaced("sqrt", before).rstrip() + f"({content})"
        base = content if _SIMPLE.fullmatch(content) else f"({content})"
        return f"{' ' if before[-1:].isalnum() else ''}{base}^(1/{degree})"

    def overline(self, before: str) -> str:
        content = self.argument()
        repeats = content.isdigit() and (before[-1:] == "." or before[-1:].isdigit())
        return (content * _REPEATED)[:_REPEATED] if repeats else content

    def environment(self, name: str) -> str:
        """Matrices as tuples, other environments as lines."""
        if name == "array":
            self.argument()
        rows: list[list[str]] = [[]]
        ends = ("&", "\\\\", "\\end")
        while True:
            rows[-1].append(self.until(ends).strip())
            piece = self.peek()
            self.place += bool(piece)
            if piece == "\\\\":
                rows.append([])
            elif piece != "&":
                break
        self.argument()
        rows = [row for row in rows if any(row)]
        if name not in _TUPLES:
            return "\n".join("".join(row) for row in rows)
        if len(rows) > 1 and all(len(row) == 1 for row in rows):
            rows = [[row[0] for row in rows]]
        written = [f"({', '.join(row)})" for row in rows]
        return written[0] if len(written) == 1 else f"({', '.join(written)})"
