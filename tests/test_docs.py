"""Every code block of the documents runs, and prints what is shown; every link leads somewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import documents
import front_page
import markscheme
from documents_shell import options_of, words_of
from markscheme import __version__
from markscheme.cli.dispatch import spelled_now
from markscheme.errors import DataError
from with_research import INSTALLED

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FIRST_READ = {"README.md", "docs/index.md", "docs/tutorial.md"}
"""What a newcomer reads: checked at every change."""
QUICK = {
    "docs/comparison.md", "docs/formats.md", "docs/how-to/extend.md", "docs/how-to/scale-out.md",
    "docs/look-at-runs.md",
}  # fmt: skip
"""Further pages that are: 52 s of processor time together, each in a process of its own."""
NAMES = {path: str(path.relative_to(ROOT)) for path in PAGES}


def reads_data(path: Path, *, slow: bool) -> bool:
    """Whether a block that runs reads public data."""
    blocks = documents.blocks(path.read_text("utf-8"))
    return any(one.data and one.runs and (slow or not one.slow) for one in blocks)


def pages(*, slow: bool) -> list[pytest.ParameterSet]:
    """The pages with blocks that run, or with blocks that run and are slow."""
    found = []
    for path, name in NAMES.items():
        data = reads_data(path, slow=slow)
        marks: list[pytest.MarkDecorator] = [pytest.mark.needs_data] if data else []
        if name in FIRST_READ | QUICK and not slow and not data:
            marks.append(pytest.mark.joint)
        elif data:
            marks.append(pytest.mark.proof(area="papers"))
        else:
            marks.append(pytest.mark.proof(area="documents"))
        blocks = documents.blocks(path.read_text("utf-8"))
        if any(one.runs and one.slow == slow for one in blocks):
            found.append(pytest.param(path, id=name, marks=marks))
    return found


def test_the_pages_with_proofs_of_papers_are_declared() -> None:
    """So that `make proofs-for` names the area when one of them changes."""
    declared = tomllib.loads((ROOT / "tests" / "areas.toml").read_text("utf-8"))
    marked = [page.id for slow in (False, True) for page in pages(slow=slow) for mark in page.marks
              if "papers" in mark.kwargs.values()]  # fmt: skip
    assert set(marked) <= set(declared["papers"]["paths"])


def run_page(
    path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    *,
    slow: bool,
) -> None:
    """Run a page in a folder, with the public data if it reads them."""
    monkeypatch.delenv("MARKSCHEME_LEDGER", raising=False)
    if reads_data(path, slow=slow):
        monkeypatch.setenv("MARKSCHEME_DATA", str(request.getfixturevalue("data_dir").resolve()))
    with documents.sandbox(ROOT, folder):
        assert documents.run_page(path, slow=slow) > 0


@pytest.mark.parametrize("path", pages(slow=False))
def test_blocks_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    run_page(path, tmp_path, monkeypatch, request, slow=False)


@pytest.mark.proof(area="documents")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name)
        for path, name in NAMES.items()
        if reads_data(path, slow=False)
        and any(
            one.runs and not one.slow and not one.data
            for one in documents.blocks(path.read_text("utf-8"))
        )
    ],
)
def test_blocks_run_without_the_data(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a page shows of the data is left out; what it says of the example must stand alone."""
    monkeypatch.delenv("MARKSCHEME_LEDGER", raising=False)
    monkeypatch.setenv("MARKSCHEME_DATA", str(tmp_path / "nowhere"))
    with documents.sandbox(ROOT, tmp_path):
        assert documents.run_page(path, slow=False, data=False) > 0


@pytest.mark.parametrize("path", pages(slow=True))
def test_all_blocks_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    run_page(path, tmp_path, monkeypatch, request, slow=True)


@pytest.mark.parametrize("path", [pytest.param(path, id=name) for path, name in NAMES.items()])
def test_blocks_that_do_not_run_say_why(path: Path) -> None:
    for block in documents.blocks(path.read_text("utf-8")):
        place = f"{NAMES[path]}:{block.line}"
        if block.reason is not None:
            assert block.reason in documents.REASONS, f"{place}: no such reason: {block.reason}"
            must = documents.REASONS[block.reason]
            assert re.search(must, block.text), f"{place}: nothing in it {block.reason}"
        elif not block.language:
            assert not re.search(r"^(\$ )?markscheme ", block.text, re.MULTILINE), (
                f"{place}: commands stand in ```sh or ```console blocks"
            )


LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "recipes").rglob("*.md")]
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as MkDocs makes them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", heading) for heading in plain}


@pytest.mark.parametrize("path", LINKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path: Path) -> None:
    text = FENCED.sub("", path.read_text("utf-8"))
    for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", text):
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


def test_the_words_of_readme_and_docs_are_those_that_are_counted() -> None:
    docs = ROOT / "docs"
    counted = {
        "README": [ROOT / "README.md"],
        "docs": list(docs.rglob("*.md")),
        "docs/reference": list((docs / "reference").rglob("*.md")),
    }
    told = re.search(
        r"README went from 1,526 to about ([\d,]+) words.*?98,618 on 62 pages to about ([\d,]+) on "
        r"(\d+) pages, and\s+`docs/reference` from 20,883 to about ([\d,]+)\.",
        text_of("docs/testing.md"),
        re.S,
    )
    assert told
    readme, pages, number, reference = (int(one.replace(",", "")) for one in told.groups())
    assert number == len(counted["docs"])
    for said, paths in zip((readme, pages, reference), counted.values(), strict=True):
        words = sum(len(path.read_text("utf-8").split()) for path in paths)
        assert said == pytest.approx(words, rel=0.02), (paths[0].name, words)


def test_every_picture_is_shown() -> None:
    text = "".join(path.read_text("utf-8") for path in PAGES)
    pictures = [*(ROOT / "docs" / "pictures").iterdir(), *(ROOT / "docs").glob("*.svg")]
    assert not [picture.name for picture in pictures if picture.name not in text]


def test_first_pages_say_how_many_questions_of_the_example_trained_the_examiner() -> None:
    lines = text_of("examples/answers.jsonl").splitlines()
    questions = sorted({json.loads(line)["question"] for line in lines})
    trained = markscheme.parse_judge("examiner(depth=fast)").lineage().has(questions).sum()
    note = f"{trained} of these {len(questions)} questions trained the examiner"
    for name in ("README.md", "docs/tutorial.md"):
        assert note in " ".join(text_of(name).split()), name


@pytest.mark.parametrize("path", [pytest.param(path, id=name) for path, name in NAMES.items()])
def test_commands_that_do_not_run_exist_with_their_options(path: Path) -> None:
    for block in documents.blocks(path.read_text("utf-8")):
        if block.reason is None or block.language not in ("sh", "bash", "console"):
            continue
        for command in documents.commands(block):
            if not command.typed.startswith("markscheme "):
                continue
            place = f"{NAMES[path]}:{block.line}: {command.typed}"
            words = words_of(command.typed)[1:]
            if not INSTALLED and spelled_now(words)[0] in ("research", "train"):
                continue
            name, known = options_of(words)
            assert name != "markscheme", f"{place}: no such command"
            for word in words:
                if re.match(r"--?[a-z]", word):
                    assert word.partition("=")[0] in known, f"{place}: no option {word}"


def test_nearly_all_blocks_run() -> None:
    every = [one for path in PAGES for one in documents.blocks(path.read_text("utf-8"))]
    code = [one for one in every if one.language in documents.CODE or one.file is not None]
    # Adapters of other tools run in tests/integrations, inside those tools.
    ours = [one for one in code if one.reason != "needs its tool"]
    assert sum(one.runs for one in ours) > 0.92 * len(ours)


@pytest.mark.parametrize(
    ("shown", "printed", "equal"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "..."], ["a", "b", "c"], True),
        (["a", "...", "c"], ["a", "c"], True),
        (["a", "...", "d"], ["a", "b", "c"], False),
        (["a"], ["a", "b"], False),
        (["a.c"], ["abc"], False),
    ],
)
def test_elided_output(shown: list[str], printed: list[str], equal: bool) -> None:
    assert documents.same(shown, printed) == equal


@pytest.mark.parametrize(
    ("shown", "printed", "kept"),
    [
        (["T", "a 1", "...", "z 9"], ["T", "a 2", "b", "c", "z 8"], ["T", "a 2", "...", "z 8"]),
        (["T", "...", "m 5", "..."], ["T", "a", "m 6", "n"], ["T", "...", "m 6", "..."]),
        (["T", "..."], ["U", "a"], ["U", "..."]),
        (["...", "z"], ["T", "a", "y"], ["...", "y"]),
    ],
)
def test_output_written_anew_is_elided_as_before(
    shown: list[str], printed: list[str], kept: list[str]
) -> None:
    assert documents.shortened(shown, printed) == kept


def test_a_wrong_output_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ markscheme --version\nmarkscheme 9.9.9\n```\n"
        "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n",
        "utf-8",
    )
    with documents.sandbox(ROOT, tmp_path):
        with pytest.raises(AssertionError, match=r"page.md:2: markscheme --version"):
            documents.run_page(page)
        page.write_text(page.read_text("utf-8").replace("9.9.9", __version__), "utf-8")
        with pytest.raises(AssertionError, match=r"(?s)page.md:10: .*42"):
            documents.run_page(page)
        page.write_text(documents.written_anew(page), "utf-8")
        assert documents.run_page(page) == 3


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("sh\nfalse | true\n", "ends with 1"),
        ("sh\nmarkscheme judge nowhere.jsonl\n", "ends with 2"),
        ("sh\nmarkscheme serve --no-such-option\n", "no server"),
        ("sh\nmarkscheme judge answers.jsonl -j llm_cot_unreadable -m x\n", "ends with 2"),
        ("json\n{}\n", "question"),
        ("python\nassert 1 == 2, 'unequal'\n", "unequal"),
    ],
)
def test_what_does_not_work_is_noticed(tmp_path: Path, block: str, said: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```{block}```\n", "utf-8")
    with documents.sandbox(ROOT, tmp_path), pytest.raises((AssertionError, DataError), match=said):
        documents.run_page(page)


def test_assignments_and_exports_reach_later_commands(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\nWHERE=$(printf kept)/out\nexport MARKSCHEME_LEDGER=$WHERE.sqlite\n"
        "markscheme judge answers.jsonl -j llm_kamalloo -m gpt-4o-mini\n"
        "test -f kept/out.sqlite\n```\n",
        "utf-8",
    )
    before = dict(os.environ)
    with documents.sandbox(ROOT, tmp_path):
        assert documents.run_page(page) == 1
    assert dict(os.environ) == before


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_decision_table_has_the_figures_of_the_cards() -> None:
    table = text_of("docs/which-judge.md")
    row = r"^\| all five \| [\d,]+ \| ([\d.]+).*?\| ([\d.]+).*?\| 0?([\d.]+)"
    overall = re.search(row, text_of("docs/examiner.md"), re.MULTILINE)
    assert overall is not None
    f1, accuracy, auroc = overall.groups()
    assert f"| {f1} | {accuracy} | {auroc} |" in table


def measured() -> dict[str, list[str]]:
    """Each judge's F1, accuracy, AUROC, accuracy and kappa on NQ301, and rate, as measured."""
    section = text_of("docs/benchmarks.md").partition("\n## Every judge on people's labels\n")[2]
    found = re.findall(r"^\| `(.+?)` \| ((?:[\d.,]+ \| ){6})", section, re.MULTILINE)
    return {judge: cells.split(" | ")[:-1] for judge, cells in found}


def test_the_decision_table_has_the_figures_of_the_benchmarks() -> None:
    rows = re.findall(
        r"^\| `([^`]+)`.*? \| ((?:[\d.,]+ \| ){6})none \|$",
        text_of("docs/which-judge.md"),
        re.MULTILINE,
    )
    names = {"bertscore": "bertscore (MiniLM)"}
    assert len(rows) == 12
    for judge, cells in rows:
        f1, accuracy, auroc, other, kappa, rate = measured()[names.get(judge, judge)]
        percent = f"{100 * float(other):.1f}"
        wanted = [f1, accuracy, auroc.lstrip("0"), percent, kappa.lstrip("0"), rate]
        assert cells.split(" | ")[:-1] == wanted, judge


def test_the_front_page_has_the_figures_of_the_benchmarks() -> None:
    for judge in ("examiner", "entailment", "contains", "exact_match"):
        assert front_page.agreement(judge) == measured()[judge][1], judge
    published = re.search(
        r"^\| GPT-3.5 entailment, published.*?\| [\d.]+ \| ([\d.]+) \|",
        text_of("docs/which-judge.md"),
        re.MULTILINE,
    )
    assert published is not None
    assert front_page.agreement("GPT-3.5") == published[1]


def test_the_front_page_has_the_figure_of_another_person_as_the_paper_printed_it() -> None:
    row = re.search(
        r"^\| Another Human, NQ \| (.+) \|$", text_of("docs/papers/yao-2024.md"), re.MULTILINE
    )
    assert row is not None
    printed = [float(cell.partition(" / ")[0]) for cell in row[1].split(" | ")]
    accuracies = printed[1::2]  # after each system's F1
    assert len(accuracies) == 5
    assert front_page.agreement("a person") == f"about {sum(accuracies) / 5:.0f}"


def test_the_front_page_is_a_page() -> None:
    prose = re.sub(r"```.*?```", "", text_of("README.md"), flags=re.DOTALL)
    assert len(prose.split()) <= 520
    # With commands, outputs and tables; what holds neither letter nor figure is no word.
    assert len(re.findall(r"\S*\w\S*", text_of("README.md"))) <= 700


def test_the_comparison_has_the_figures_of_the_benchmarks() -> None:
    rows = re.findall(r"^\| markscheme `(\w+)` \| (.+) \|$", text_of("docs/comparison.md"), re.M)
    assert len(rows) == 4
    for judge, cells in rows:
        _, accuracy, _, other, kappa, _ = measured()[judge]
        assert cells == f"{accuracy} | {100 * float(other):.1f} | {float(kappa):.2f}"


def test_rates_of_the_examiner_are_those_of_its_card() -> None:
    speed = text_of("docs/examiner.md").partition("\n## Speed\n")[2]
    row = r"^\| examiner(?:\(depth=fast\))? \| ([\d,]+) \| ([\d,]+) \|"
    (_, core), (_, core_encoder) = re.findall(row, speed, re.MULTILINE)
    scale = text_of("docs/how-to/scale-out.md")
    assert f"| `examiner(depth=fast)`, one core | {core} answers" in scale
    assert f"| `examiner`, one core | {core_encoder} |" in scale
    rates = f"{core} per second of processor time without the encoder and {core_encoder} with"
    assert rates in " ".join(scale.split())


@pytest.mark.proof(area="documents")
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    tool = shutil.which("mkdocs", path=str(Path(sys.executable).parent)) or shutil.which("mkdocs")
    assert tool is not None, "pip install 'markscheme[docs]'"
    done = subprocess.run(
        [tool, "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    front = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "markscheme" in front
    for page in (tmp_path / "site").rglob("*.html"):
        fetched = re.findall(
            r"""<(?:script|img|iframe)[^>]*\ssrc=["']?(https?:|//)"""
            r"""|<link[^>]*rel=["']?stylesheet["']?[^>]*href=["']?(https?:|//)""",
            page.read_text("utf-8"),
        )
        assert not fetched, f"{page} loads something from the network"
