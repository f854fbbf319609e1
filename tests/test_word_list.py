"""Texts that users read are in plain technical English: no word of DESIGN.md's list is in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOTS = (
    ROOT / "src" / "markscheme",
    ROOT / "packages" / "research" / "src" / "markscheme_research",
)

FORBIDDEN = {
    r"told|asked": "requested, sent, queried, or an active verb",
    r"kept": "stored, saved, retained",
    r"said": "reported, gave",
    r"stands?(?!-in)|standing": "is, appears, is listed",
    r"beside": "compared with, next to",
    r"tells?\s+(?:\w+\s+)?apart": "distinguish",
    r"an?\s+[a-z]+\s+an?\s+[a-z]+": "one X per Y",
    r"by\s+comma": "comma-separated",
    r"go(?:es)?\s+by|makes?\s+do": "uses",
    r"settled": "decided, resolved",
    r"mend(?:s|ed|ing)?": "repair, correct",
    r"believe[sd]?": "trust, rely on",
    r"learnt": "learned",
    r"handicaps?": "disadvantage, limit",
    r"whoever|strangers?|drill|lest|wanting|the\s+dear\s+one": "plain words",
}
PATTERN = re.compile("|".join(rf"\b(?P<w{n}>{word})\b" for n, word in enumerate(FORBIDDEN)), re.I)
INSTEAD = list(FORBIDDEN.values())

READ = {".html", ".py", ".toml"}

DATA = re.compile(r"[|\\]|\{\{|(?:[a-z]+\s+){30}|^judge said explanation$")
"""Of strings that are no docstrings: regular expressions, prompts' templates, word tables, and the
columns of a stored table."""

NOT_PROSE = re.compile(r"^ *(?:>>>|\.\.\.).*|^ +\w+(?=: )|`[^`]*`|'[\w-]*'", re.M)
"""Examples' code, documented fields, and names in quotation marks."""

NO_PROSE_OF_A_PAGE = re.compile(
    r"```.*?```|`[^`]*`|\"[^\"]*\"|<!--.*?-->|^#[^\n]*|^:::[^\n]*(?:\n +[^\n]*)*", re.S | re.M
)
"""Code, quotations, comments and headings of Markdown, and what mkdocstrings is to show."""

RECORDS = {"examiner-looks.md"}
"""Pages that log what was done."""

MADE_UP = re.compile(
    r"training/entailment_(?:pairs|units)\.py$|/(?:recipes|examples)/|/yardstick_\w+\.py$"
)
"""Modules whose strings are answers to learn from, or commands; their docstrings are texts."""

MARKUP = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(script|style)\b.*?</\1>|<[^<>]*>", re.S)


def literals(tree: ast.AST, *, only_docstrings: bool) -> Iterator[tuple[int, str]]:
    """Docstrings and texts of several words that are not data: line, and text."""
    nodes = list(ast.walk(tree))
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    within = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            text = "".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        data = id(node) in within or " " not in text or DATA.search(text)
        if id(node) in documentation or not (data or only_docstrings):
            yield node.lineno, text


def visible_texts(path: Path) -> Iterator[tuple[int, str]]:
    """What a user can read of a file: the first line of each text, and the text."""
    content = path.read_text("utf-8")
    if path.suffix == ".py":
        only_docstrings = bool(MADE_UP.search(path.as_posix()))
        yield from literals(ast.parse(content), only_docstrings=only_docstrings)
    elif path.suffix == ".md":
        yield 1, NO_PROSE_OF_A_PAGE.sub(lambda match: "_" + "\n" * match[0].count("\n"), content)
    elif path.suffix == ".toml":  # The rest of a prompt is quoted, and goes to a model.
        yield 1, "\n".join(re.findall(r"^summary = .*", content, re.M))
    else:
        yield 1, MARKUP.sub(lambda match: "\n" * match[0].count("\n") or " ", content)


def findings(path: Path) -> Iterator[str]:
    """`file:line: word, and what to write instead`, for each forbidden word."""
    for line, text in visible_texts(path):
        prose = NOT_PROSE.sub(lambda match: "_" * len(match[0]), text)
        for match in PATTERN.finditer(prose):
            at = line + text[: match.start()].count("\n")
            instead = INSTEAD[int(str(match.lastgroup)[1:])]
            yield f"{path}:{at}: {match[0]!r} (instead: {instead})"


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_texts_are_free_of_forbidden_words(root: Path) -> None:
    paths = [path for path in root.rglob("*") if path.suffix in READ]
    assert paths, f"no texts in {root}"
    assert not [finding for path in sorted(paths) for finding in findings(path)]


def test_documents_are_free_of_forbidden_words() -> None:
    paths = [*ROOT.glob("*.md"), ROOT / "src" / "markscheme" / "SKILL.md"]
    for folder in ("docs", "recipes", "examples"):
        found = (ROOT / folder).rglob("*")
        paths += [path for path in found if path.suffix in (".md", ".py")]
    paths = [path for path in paths if path.name not in RECORDS]
    assert not [finding for path in sorted(paths) for finding in findings(path)]


def test_what_scripts_and_benchmarks_print_is_free_of_forbidden_words() -> None:
    paths = [path for name in ("scripts", "benchmarks") for path in (ROOT / name).rglob("*.py")]
    assert not [finding for path in sorted(paths) for finding in findings(path)]


def test_docstrings_and_messages_are_read_and_data_are_not(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""Where it\nstands; `kept`.\n\n>>> told()\n    asked: of it.\n"""\n'
        'raise ValueError(f"{name} was told {number} times")\n'
        f'PATTERN, WORDS, KEY = r"asked |said", "{"kept told " * 20}", "settled"\n'
    )
    made_up = tmp_path / "training" / "entailment_pairs.py"
    made_up.parent.mkdir()
    made_up.write_text('"""As\nasked."""\nANSWERS = ("I was told", f"{name} said")\n')
    page = tmp_path / "page.html"
    page.write_text('<p\ntitle="told">{{ kept }}{# said #}</p>\n<b>beside</b>')
    found = [*findings(module), *findings(made_up), *findings(page)]
    expected = [
        "module.py:2: 'stands'",
        "module.py:7: 'told'",
        "entailment_pairs.py:2: 'asked'",
        "page.html:3: 'beside'",
    ]
    assert [text.rpartition("/")[2].partition(" (")[0] for text in found] == expected
