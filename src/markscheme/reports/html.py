"""The report as one HTML file that needs nothing else: no network, no server, no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from markscheme.contract import version
from markscheme.reports.charts import PALETTE, address, altair
from markscheme.reports.figures import picture
from markscheme.reports.material import Material
from markscheme.reports.payload import later, packed, payload
from markscheme.reports.section import Section
from markscheme.reports.sections import absent, sections
from markscheme.results import Table
from markscheme.web import answer_script, answer_style, page_file, source_hash, templates

_PACKAGE = "markscheme.reports"
_COLUMN = 640
"""Width of a chart, in pixels, that half of the page can show."""


@dataclass(frozen=True, kw_only=True)
class Live:
    """What a report has more where it is served than where it is a file.

    Attributes:
        base: the address under which the page asks its server.
        query: of the addresses that give what comes later: `later`'s columns and the figures.
        form: what the page's own requests carry.
        script: defines `serve`, which the page's script calls with its parts.
        links: other pages of the server: text and address.
        style: rules of the served parts.
    """

    base: str
    script: str
    query: str = ""
    form: str = ""
    links: Sequence[tuple[str, str]] = ()
    style: str = ""


def report_html(
    material: Material,
    live: Live | None = None,
    *,
    answers: bool = True,
    found: Sequence[Section] | None = None,
) -> str:
    """The text of the report, as a file or, with `live`, as a page of a server.

    The file opens from disk, offline, in any browser of 2023 or later; equal runs give equal files.

    A server's page has answers and verdicts only, so that it is there at once; it then asks for
    what takes longer: `later_json` and `figures_html`. A file without `answers` has figures and no
    script; a caller that may show no text gives `Material.without_reasons()`.
    """
    altair()
    style = answer_style() + page_file(_PACKAGE, "report.css") + _dark(PALETTE)
    script = answer_script() + page_file(_PACKAGE, "report.js")
    if live is not None:
        style, script = style + live.style, live.script + script
    template = templates(_PACKAGE).get_template("report.html")
    return template.render(
        material=material,
        answers=answers,
        figures=None if live else figures_html(material, linked=answers, found=found),
        live=live,
        version=version(),
        style=style,
        style_hash=source_hash(style),
        script=script,
        script_hash=source_hash(script),
        data=packed(payload(material, live=live is not None), quick=live is not None)
        if answers
        else None,
        later=packed(later(material)) if answers and not live else None,
    )


def figures_html(
    material: Material, *, linked: bool = True, found: Sequence[Section] | None = None
) -> str:
    """The figures of a report: sections with tables and charts, as HTML.

    Args:
        material: what the report is of.
        linked: whether counts and marks lead to their answers on the same page.
        found: the sections, where they are known already.
    """
    template = templates(_PACKAGE).get_template("figures.html")
    return template.render(
        sections=[_shown(section, linked=linked) for section in found or sections(material)],
        absent=absent(material),
        linked=linked,
    )


def table_html(table: Table, anchor: str = "") -> str:
    """One table with its notes, as reports have them, for a page whose tables lead nowhere.

    A page that replaces it keeps the focus where it has an id, `anchor`.
    """
    template = templates(_PACKAGE).get_template("table.html")
    named = {"anchor": anchor} if anchor else {}
    return template.render(table=table, links={}, linked=False, **named)


def later_json(material: Material) -> bytes:
    """What a served report asks for once its answers are shown."""
    return orjson.dumps(later(material))


def chart_of(material: Material, key: str) -> Any | None:
    """The report's chart of one section, as altair has it; None where the data do not give it.

    Args:
        material: what the report is of.
        key: the section: `accuracy`, `reliability`, `agreement`, `roc`, ...

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    altair()
    found = next((one for one in sections(material) if one.key == key), None)
    return None if found is None or found.chart is None else found.chart()


def _shown(section: Section, *, linked: bool) -> dict[str, Any]:
    """A section as the template shows it."""
    chart = None
    if section.chart is not None:
        chart = picture(section.chart(), label=f"{section.key}-says", linked=linked)
    wide = chart is None or float(chart.partition('width="')[2].partition('"')[0]) > _COLUMN
    links = {place: address(state) for place, state in section.links.items()} if linked else {}
    return {"section": section, "chart": chart, "links": links, "wide": wide}


def _dark(palette: Mapping[str, tuple[str, str]]) -> str:
    """Rules that show every chart colour by its twin where the reader prefers dark pages."""
    rules = "".join(
        f'svg [fill="{light}"]{{fill:{dark}}}svg [stroke="{light}"]{{stroke:{dark}}}'
        for light, dark in palette.values()
    )
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"
