"""The viewer's pages: the index, a run, two runs, and what a page asks for while it is open."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

import orjson
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from markscheme.agreement import agree, closest_judges, estimate, open_run
from markscheme.engine import ALL_SYSTEMS, RunFolder
from markscheme.errors import MarkschemeError
from markscheme.reports import (
    Live,
    Material,
    explained,
    figures_html,
    later_json,
    read_material,
    report_html,
    table_html,
)
from markscheme.results import accuracy_figure, by_judges, methods_of, plain, population
from markscheme.view.runs import Run, RunLabels, grades_of, label_rows, runs_of, with_given
from markscheme.web import Guard, answer_style, page_file, templates

_PACKAGE = "markscheme.view"
_KEPT = 8
"""Runs held in memory with what their pages show; a large one takes a while to compute."""

LARGEST_BODY = 2_000_000

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def make_app(
    folder: str | Path, *, token: str, form: str, positive_from: float | None = None
) -> Starlette:
    """The viewer of a folder of runs.

    Args:
        folder: looked through again whenever the index is opened.
        token: lets in; form: what our pages' requests carry.
        positive_from: the grade from which an answer is acceptable, of runs whose labels are
            grades; None leaves these labels out.
    """
    pages = _Pages(Path(folder), positive_from, form)
    routes = [
        Route("/", pages.index),
        Route("/compare", pages.compare),
        Route("/static/{name}", pages.static),
        Route("/runs/{name:path}/progress", pages.progress),
        Route("/runs/{name:path}/label", pages.label, methods=["POST"]),
        Route("/runs/{name:path}/labels", pages.labels, methods=["POST"]),
        Route("/runs/{name:path}/explain", pages.explain, methods=["POST"]),
        Route("/runs/{name:path}/file", pages.file),
        Route("/runs/{name:path}/later", pages.later),
        Route("/runs/{name:path}/figures", pages.figures),
        Route("/runs/{name:path}", pages.run),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, admit=admitting(token, form), largest=LARGEST_BODY)],
        exception_handlers={MarkschemeError: _refused},
    )


def cookie_name(token: str) -> str:
    """Of the cookie that lets in: another for each viewer, since ports share their cookies."""
    return f"markscheme-view-{hashlib.sha256(token.encode()).hexdigest()[:12]}"


def admitting(token: str, form: str) -> Callable[[Scope, Headers], RedirectResponse | None]:
    """Lets in who has the token: by `?token=`, which becomes a cookie, or by that cookie.

    Another site cannot read a page (no cross-origin header is sent) or post a form (a header that
    only our page can set is required: `form`).
    """
    cookie = cookie_name(token)

    def admit(scope: Scope, headers: Headers) -> RedirectResponse | None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop("token", [""])[0]
        if given and _same(given, token):
            rest = urlencode(query, doseq=True)
            entered = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            entered.set_cookie(cookie, token, httponly=True, samesite="strict", path="/")
            return entered
        if not _same(cookie_parser(headers.get("cookie", "")).get(cookie, ""), token):
            raise HTTPException(
                401, "open the address that 'markscheme view' printed: it has the token"
            )
        reads = scope["method"] in ("GET", "HEAD")
        if not reads and not _same(headers.get("x-markscheme", ""), form):
            raise HTTPException(403, "this did not come from the viewer's own page")
        return None

    return admit


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


async def _refused(request: Request, error: Exception) -> Response:
    if request.method == "POST":
        return _json({"problem": str(error)}, 409)
    return PlainTextResponse(f"error: {error}", 404)


def _json(value: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(plain(value), default=str), status, media_type="application/json")


class _Pages:
    """The pages, and the runs that they have drawn."""

    def __init__(self, folder: Path, positive_from: float | None, form: str) -> None:
        self._folder, self._positive_from, self._form = folder, positive_from, form
        self._drawn: OrderedDict[tuple[Any, ...], _Drawn] = OrderedDict()
        self._drawing = asyncio.Lock()
        self._labels: dict[Path, RunLabels] = {}

    def _run(self, name: str) -> Run:
        """The run of a name; only those that the folder has can be named.

        Raises:
            MarkschemeError: there is none.
        """
        for run in runs_of(self._folder):
            if run.name == name:
                return run
        raise MarkschemeError(f"there is no run {name!r} in {self._folder}")

    def _given(self, run: Run) -> RunLabels:
        return self._labels.setdefault(run.path, RunLabels(run.path))

    async def index(self, request: Request) -> Response:  # noqa: ARG002
        return await self._index()

    async def _index(self, problem: str = "", pair: Sequence[str] = ()) -> Response:
        """The index; with the two runs of `pair` chosen, and why they cannot be compared."""
        runs = await asyncio.to_thread(runs_of, self._folder)
        rows = [self._row(run) for run in runs]
        done = [run for run in runs if run.state == "done"]
        return _page(
            "index.html",
            404 if problem else 200,
            folder=str(self._folder),
            runs=rows,
            problem=problem,
            done=done,
            pair=pair or _likely_pair(done),
            methods=methods_of(one["share"] for row in rows for one in row["figures"]),
            about=population(by_judges(one["judge"] for row in rows for one in row["figures"])),
        )

    def _row(self, run: Run) -> dict[str, Any]:
        figures = [one for one in run.figures if one["system"] == ALL_SYSTEMS] or run.figures
        labels, problem = 0, run.problem
        if run.state == "done":
            try:
                labels = len(label_rows(self._given(run).all()))
            except MarkschemeError as error:
                problem = str(error)
        return {
            "name": run.name,
            "address": _address(run.name),
            "state": run.state,
            "when": run.changed and time.strftime("%Y-%m-%d %H:%M", time.localtime(run.changed)),
            "answers": run.answers,
            "judges": run.judges,
            "problem": problem,
            "labels": labels,
            "figures": [{"judge": one["judge"], "share": accuracy_figure(one)} for one in figures],
        }

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "index.js":
            return Response(page_file(_PACKAGE, "index.js"), media_type="text/javascript")
        if name == "view.css":
            return Response(page_style(), media_type="text/css")
        return PlainTextResponse("there is no such file", 404)

    async def run(self, request: Request) -> Response:
        run = await asyncio.to_thread(self._run, request.path_params["name"])
        if run.state != "done":
            return _page("running.html", run=run, address=_address(run.name))
        return HTMLResponse(await asyncio.to_thread(self._drawn_of(run, ()).page, self._form))

    async def file(self, request: Request) -> Response:
        """The page as one file to send to somebody, with the labels given here."""
        run, others = await self._asked(request, request.path_params["name"])
        if run.state != "done":
            raise MarkschemeError(
                f"{run.name} is {run.state}; its report can be saved once it is done"
            )
        async with self._drawing:
            text = await asyncio.to_thread(self._drawn_of(run, others).file)
        names = "-and-".join(each.name for each in (run, *others))
        name = "".join(one if one.isalnum() or one in "-_." else "-" for one in names)
        return HTMLResponse(
            text, headers={"content-disposition": f'attachment; filename="{quote(name)}.html"'}
        )

    async def compare(self, request: Request) -> Response:
        asked = [request.query_params.get(name, "") for name in ("run", "with")]
        try:
            run, others = await self._asked(request, asked[0])
            drawn = self._drawn_of(run, others)
            return HTMLResponse(await asyncio.to_thread(drawn.page, self._form))
        except MarkschemeError as error:
            return await self._index(str(error), asked)

    async def later(self, request: Request) -> Response:
        """Marks and reasons of a page's answers."""
        run, others = await self._asked(request, request.path_params["name"])
        async with self._drawing:  # One at a time: this takes all the processor there is.
            found = await asyncio.to_thread(lambda: self._drawn_of(run, others).later)
        return Response(found, media_type="application/json")

    async def figures(self, request: Request) -> Response:
        """The figures of a page, as HTML."""
        run, others = await self._asked(request, request.path_params["name"])
        async with self._drawing:
            found = await asyncio.to_thread(lambda: self._drawn_of(run, others).figures)
        return HTMLResponse(found)

    async def _asked(self, request: Request, name: str) -> tuple[Run, tuple[Run, ...]]:
        """The run of a name, and the one that `?with=` compares with it."""
        other = request.query_params.get("with")
        run = await asyncio.to_thread(self._run, name)
        return run, () if other is None else (await asyncio.to_thread(self._run, other),)

    def _drawn_of(self, run: Run, others: tuple[Run, ...]) -> _Drawn:
        """A run's page from memory, made again where its files or labels have changed."""
        given = self._given(run)
        files = [given.path, *(each.path / "judgments.parquet" for each in (run, *others))]
        key = (
            run.name,
            *(each.name for each in others),
            *(file.stat().st_mtime_ns if file.exists() else 0 for file in files),
        )
        drawn = self._drawn.setdefault(key, _Drawn(run, others, given, self._positive_from))
        self._drawn.move_to_end(key)
        while len(self._drawn) > _KEPT:
            self._drawn.popitem(last=False)
        return drawn

    async def progress(self, request: Request) -> Response:
        run = await asyncio.to_thread(self._run, request.path_params["name"])
        if run.state not in ("running", "stopped"):
            return _json({"state": run.state})
        return _json(await asyncio.to_thread(RunFolder(run.path).progress))

    async def label(self, request: Request) -> Response:
        run = await asyncio.to_thread(self._run, request.path_params["name"])
        body = _object(await request.body())
        answer_id, label, comment = body.get("answer_id"), body.get("label"), body.get("comment")
        if not isinstance(answer_id, str) or label not in (0, 1, None):
            return _json({"problem": "a label has an answer_id, and 0, 1 or null"}, 422)
        answers = await asyncio.to_thread(lambda: open_run(run.path).answers)
        if answer_id not in answers["answer_id"]:
            return _json({"problem": f"{run.name} has no answer {answer_id!r}"}, 422)
        if "label" not in body:  # A comment alone: the verdict that was given before stays.
            before = (await asyncio.to_thread(self._given(run).all)).get(answer_id)
            label = None if before is None else before.label
        await asyncio.to_thread(self._given(run).give, answer_id, label, str(comment or ""))
        return _json(await asyncio.to_thread(self._said, run))

    async def labels(self, request: Request) -> Response:
        run = await asyncio.to_thread(self._run, request.path_params["name"])
        return _json(await asyncio.to_thread(self._said, run))

    async def explain(self, request: Request) -> Response:
        body = _object(await request.body())
        texts = body.get("question"), body.get("references"), body.get("answer")
        found = await asyncio.to_thread(explained, *texts)  # type: ignore[arg-type]
        return _json(found)

    def _said(self, run: Run) -> dict[str, Any]:
        """The labels given here, and what agreement and the estimate make of them."""
        kept = self._given(run).all()
        rows = label_rows(kept)
        found: dict[str, Any] = {
            "labels": len(rows),
            "file": str(self._given(run).path),
            "tables": "",
            "problem": "",
            "comments": {name: one.comment for name, one in kept.items() if one.comment},
            "given": {one["answer_id"]: one["label"] for one in rows},
        }
        if not rows:
            return found
        problems, judge = [], run.judges[0]
        try:
            agreed = agree(run.path, rows)
            found["tables"] += "".join(map(table_html, agreed.tables[:2]))
            judge = closest_judges(agreed.judges)[0].judge
        except MarkschemeError as error:
            problems.append(str(error))
        try:
            found["tables"] += table_html(estimate(run.path, rows, judge=judge).tables[0])
        except MarkschemeError as error:
            problems.append(str(error))
        found["problem"] = " ".join(problems)
        return found


def _likely_pair(done: Sequence[Run]) -> tuple[str, ...]:
    """The latest run and one before it with as many answers: likely two runs of the same."""
    for at, later in enumerate(done):
        for before in done[at + 1 :]:
            if before.answers == later.answers:
                return before.name, later.name
    return tuple(run.name for run in reversed(done[:2]))


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MarkschemeError(f"no JSON: {error}") from None
    if not isinstance(found, dict):
        raise MarkschemeError("a JSON object is expected")
    return found


class _Drawn:
    """A run's page, and what the page asks for later; each is made when first requested."""

    def __init__(
        self, run: Run, others: tuple[Run, ...], given: RunLabels, positive_from: float | None
    ) -> None:
        self._run, self._others, self._given = run, others, given
        self._positive_from = positive_from

    @cached_property
    def _material(self) -> Material:
        labels, cut, run = self._given.all(), self._positive_from, open_run(self._run.path)
        material = read_material(
            run,
            compare=[each.path for each in self._others],
            title=" and ".join(each.name for each in (self._run, *self._others)),
            given=lambda answers: with_given(answers, labels, cut),
        )
        grades = grades_of(run.answers) if cut is None else []
        return replace(material, left_out=_left_out(grades)) if grades else material

    def page(self, form: str) -> str:
        address = _address(self._run.name)
        query = "".join(f"?with={quote(each.name)}" for each in self._others)
        return report_html(
            self._material,
            Live(
                base=address,
                query=query,
                form=form,
                script=page_file(_PACKAGE, "live.js"),
                style=page_file(_PACKAGE, "live.css"),
                links=[("All runs", "/"), ("Save as a file to share", f"{address}/file{query}")],
            ),
        )

    @cached_property
    def later(self) -> bytes:
        return later_json(self._material)

    @cached_property
    def figures(self) -> str:
        return figures_html(self._material)

    def file(self) -> str:
        return report_html(self._material)


def _left_out(grades: Sequence[float]) -> str:
    """That the labels of a run are left out, being grades, and how they are shown."""
    some = ", ".join(f"{grade:g}" for grade in grades[:8]) + (", ..." if len(grades) > 8 else "")
    return (
        f"The run's labels are grades ({some}), which are left out here: nothing says from which "
        "grade an answer is acceptable. Start 'markscheme view' with --positive-from GRADE "
        "(Python: positive_from=...), and they are shown."
    )


def draw_latest(folder: str | Path, positive_from: float | None = None) -> None:
    """Draw the page of the latest run for nobody: the next one has all it needs in memory."""
    latest = next((run for run in runs_of(folder) if run.state == "done"), None)
    if latest is not None:
        with suppress(MarkschemeError):  # Opening it shows the error.
            _Drawn(latest, (), RunLabels(latest.path), positive_from).page(form="")


def _address(name: str) -> str:
    return f"/runs/{quote(name)}"


def page_style() -> str:
    """The rules of the report's page, of answers and of the viewer's own pages."""
    return (
        page_file("markscheme.reports", "report.css")
        + answer_style()
        + page_file(_PACKAGE, "view.css")
    )


def _page(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    text = templates(_PACKAGE).get_template(name).render(**values)
    return HTMLResponse(text, status, headers={"content-security-policy": _POLICY})
