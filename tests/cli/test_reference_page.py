"""The page on the command line says what the commands say."""

from __future__ import annotations

from pathlib import Path

from markscheme.cli.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_page_is_as_the_commands_are() -> None:
    assert PAGE.read_text() == reference(), (
        "run: python -m markscheme.cli.reference > docs/reference/cli.md"
    )


def test_every_command_has_its_options_on_it() -> None:
    page = PAGE.read_text()
    headings = ("judge", "agree", "research study seeds", "research datasets fetch")
    for heading in headings:
        assert f"## {heading}\n" in page
    assert "| `--seed` | Seed for everything random. [default: 0] |" in page
    assert "--by-system" not in page
