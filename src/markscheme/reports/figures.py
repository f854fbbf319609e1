"""Charts as files for papers, and as pictures inside the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

from markscheme.errors import MarkschemeError
from markscheme.reports.charts import altair
from markscheme.reports.options import FigureFormat
from markscheme.reports.section import Section
from markscheme.tables import replace_file

FORMATS = get_args(FigureFormat)
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_PIXELS = 3.0
"""Pixels of a PNG to a point of the chart: 300 dots an inch in a column of a paper."""

_NOT_DRAWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\u2028\u2029\ufffe\uffff]")
"""Characters that a name may have and XML or Vega's expressions may not: the renderer fails on
some, and aborts the whole process on others."""

_TAGS = frozenset("a svg g path line rect text tspan circle defs clipPath".split())
_ATTRIBUTES = frozenset(
    """
    clip-path cx cy d display fill fill-opacity font-size font-style font-weight height id opacity r
    stroke stroke-dasharray stroke-miterlimit stroke-opacity stroke-width text-anchor transform
    viewBox width x x1 x2 y y1 y2
    """.split()
)


_MARKS = frozenset(["point", "bar", "rule", "circle"])


def write_figures(
    sections: Sequence[Section], folder: str | Path, *, format: FigureFormat = "svg"
) -> list[Path]:
    """Write every section's chart to `folder`, named by the section's key.

    `svg` and `pdf` are for papers, `png` for slides, `html` is interactive and works offline,
    `json` is the Vega-Lite specification to change by hand.

    Raises:
        MissingExtraError: the extra `report` is not installed.
        MarkschemeError: an unknown format.
    """
    if format not in FORMATS:
        raise MarkschemeError(f"no figures as {format!r}; there are {', '.join(FORMATS)}")
    altair()
    target = Path(folder)
    written = []
    for section in sections:
        if section.chart is not None:
            path = target / f"{section.key}.{format}"
            replace_file(path, drawn(section.chart(), format=format))
            written.append(path)
    return written


def drawn(chart: Any, *, format: FigureFormat) -> bytes:
    """A chart in a format."""
    import vl_convert

    spec = _drawable(chart.to_dict())
    match format:
        case "svg":
            found: str | bytes = vl_convert.vegalite_to_svg(spec)
        case "png":
            found = vl_convert.vegalite_to_png(spec, scale=_PIXELS)
        case "pdf":
            found = vl_convert.vegalite_to_pdf(spec)
        case "html":
            found = chart.to_html(inline=True, embed_options={"actions": False})
        case "json":
            found = chart.to_json()
    return found.encode() if isinstance(found, str) else found


def _drawable(value: Any) -> Any:
    """A specification without characters that cannot be drawn."""
    if isinstance(value, str):
        return _NOT_DRAWN.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_drawable(name): _drawable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_drawable(part) for part in value]
    return value


def picture(chart: Any, *, label: str, linked: bool = True) -> str:
    """A chart as SVG to embed in a page: only shapes and texts, no style or script.

    A mark shows what it represents when pointed at, and leads to its answers on the same page. The
    table of numbers next to the chart has the same links for the keyboard.

    Args:
        chart: what to draw.
        label: id of the element that names the picture.
        linked: False for a page that has no answers to lead to.
    """
    root = ElementTree.fromstring(drawn(chart, format="svg"))  # noqa: S314
    _clean(root, linked=linked)
    linked = root.find(f".//{_SVG}a") is not None
    root.attrib |= {"role": "group" if linked else "img", "aria-labelledby": label}
    ElementTree.register_namespace("", _SVG.strip("{}"))
    return _rounded(ElementTree.tostring(root, encoding="unicode"))


def _clean(element: ElementTree.Element, *, linked: bool) -> None:
    link, said = element.get(_LINK, ""), element.get("aria-label", "")
    mark = element.get("aria-roledescription", "") in _MARKS
    for name in [name for name in element.attrib if name not in _ATTRIBUTES]:
        del element.attrib[name]
    if not linked and element.tag == f"{_SVG}a":
        element.tag = f"{_SVG}g"
    elif "#" in link:  # The renderer puts an address of its own before it.
        element.attrib |= {"href": f"#{link.partition('#')[2]}", "tabindex": "-1"}
    for child in list(element):
        if child.tag.removeprefix(_SVG) in _TAGS:
            _clean(child, linked=linked)
        else:
            element.remove(child)
    if mark and said:
        title = ElementTree.Element(f"{_SVG}title")
        title.text = said
        element.insert(0, title)


def _rounded(svg: str) -> str:
    """Two decimals are enough for a screen."""
    return re.sub(r"(?<=\d\.\d\d)\d+(?=[^<>]*>)", "", svg)
