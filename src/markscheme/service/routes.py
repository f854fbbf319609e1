"""Routes: judgments and rewards, jobs, and what may be requested."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
import polars as pl
from fastapi import APIRouter, Form, Request, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST

from markscheme.contract import entry, name_of
from markscheme.metrics import reward
from markscheme.service.allowed import Served
from markscheme.service.jobs import Job
from markscheme.service.reading import ReadRoute
from markscheme.service.schemas import (
    ExplanationIn,
    ExplanationOut,
    Health,
    JobIn,
    JobOut,
    JudgesOut,
    JudgmentsIn,
    JudgmentsOut,
    RewardsIn,
    RewardsOut,
)
from markscheme.service.state import State
from markscheme.tables import csv_series, scan_parquet


def json(body: Any, status: int = 200) -> Response:
    """A JSON response, past the framework's own conversions."""
    return Response(orjson.dumps(body), status, media_type="application/json")


def judging_routes(state: State) -> APIRouter:
    """The routes that judge."""
    routes = APIRouter(prefix="/v1", tags=["judging"], route_class=ReadRoute)

    @routes.get("/judges", response_model=JudgesOut, summary="Judges that may be requested")
    def allowed() -> Response:
        return json(
            {"judges": [_shown(one, state.allowed.default) for one in state.allowed.served]}
        )

    @routes.post("/judgments", response_model=JudgmentsOut, summary="Judge answers")
    async def judgments(request: Request, body: JudgmentsIn) -> Response:
        served = state.allowed.find(body.judge)
        outcomes = await state.judging.judge(served, body.answers, request.state.owner)
        return json({"judge": served.name, "signature": served.signature, "judgments": outcomes})

    @routes.post("/rewards", response_model=RewardsOut, summary="Reward answers, for training")
    async def rewards(request: Request, body: RewardsIn) -> Response:
        served = state.allowed.find(body.judge)
        outcomes = await state.judging.judge(served, body.answers, request.state.owner)
        not_judged = Counter(one["status"] for one in outcomes if one["status"] != "judged")
        values = [reward(one, body.by, wrong=body.wrong, right=body.right) for one in outcomes]
        named = {"judge": served.name, "signature": served.signature}
        return json({**named, "rewards": values, "not_judged": not_judged})

    @routes.post(
        "/explanations", response_model=ExplanationOut, summary="Say why an answer is judged so"
    )
    async def explanations(request: Request, body: ExplanationIn) -> Response:
        served = [one.name for one in state.allowed.served]  # With other parameters it is another.
        found = await state.judging.explain(
            body, request.state.owner, examiner="examiner" in served
        )
        return json(found)

    return routes


def _shown(served: Served, default: Served) -> dict[str, Any]:
    return {
        "name": served.name,
        "signature": served.signature,
        "summary": entry(name_of(served.judge)).summary,
        "default": served is default,
    }


def operating_routes(state: State) -> APIRouter:
    """The routes for the service's operator."""
    routes = APIRouter(tags=["operating"])

    @routes.get("/healthz", response_model=Health, summary="Whether the process lives")
    async def health() -> Response:
        return json({"status": "ok"})

    @routes.get(
        "/readyz",
        response_model=Health,
        responses={503: {"model": Health, "description": "Starting, stopping, or stuck."}},
        summary="Whether requests should be sent here",
    )
    async def ready() -> Response:
        if state.stopping or not state.ready:
            return json({"status": "stopping" if state.stopping else "starting"}, 503)
        if state.judging.stuck():
            return json({"status": "stuck"}, 503)
        return json({"status": "ready"})

    @routes.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        summary="Figures for Prometheus",
    )
    def metrics() -> Response:
        return Response(state.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return routes


# --- Jobs over HTTP: send a file, ask how far it is, fetch its judgments, remove it ---------------


Format = Literal["jsonl", "csv", "parquet"]
_MEDIA: dict[str, str] = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
}
_ROWS_AT_ONCE = 20_000

JobId = Annotated[str, InPath(pattern=r"^[0-9a-f]{32}$")]


def job_routes(state: State) -> APIRouter:
    """The routes for jobs. A job is seen only by the key that made it."""
    routes = APIRouter(prefix="/v1/jobs", tags=["jobs"], deprecated=True)

    @routes.post("", response_model=JobOut, status_code=202, summary="Judge a file")
    async def add(request: Request, body: Annotated[JobIn, Form()]) -> Response:
        served = state.allowed.find(body.judge)
        job = await state.jobs.add(
            body.file.file,
            body.file.filename or "",
            owner=request.state.owner,
            judge=served.name,
            options={
                "clean": body.clean,
                "read": {
                    "input_format": body.format,
                    "columns": dict(
                        pair.split("=") for pair in (body.columns or "").split(",") if pair
                    ),
                    "reference_separator": body.reference_separator,
                    "on_bad_row": body.on_bad_row,
                },
            },
        )
        response = json(_shown_job(job), 202)
        response.headers["location"] = f"/v1/jobs/{job.id}"
        return response

    @routes.get("/{job_id}", response_model=JobOut, summary="State and progress of a job")
    async def state_of(request: Request, job_id: JobId) -> Response:
        return json(_shown_job(state.jobs.find(job_id, request.state.owner)))

    @routes.get(
        "/{job_id}/judgments",
        response_class=Response,
        responses={
            200: {
                "description": "The judgments, in the order of the file.",
                "content": {media: {"schema": {"type": "string"}} for media in _MEDIA.values()},
            }
        },
        summary="Judgments of a finished job",
    )
    async def judgments(request: Request, job_id: JobId, format: Format = "jsonl") -> Response:
        file = state.jobs.judgments(state.jobs.find(job_id, request.state.owner))
        if format == "parquet":
            return FileResponse(file, media_type=_MEDIA[format], filename="judgments.parquet")
        return StreamingResponse(_pieces(file, format), media_type=_MEDIA[format])

    @routes.delete(
        "/{job_id}", status_code=204, response_class=Response, summary="Stop and remove a job"
    )
    async def remove(request: Request, job_id: JobId) -> Response:
        await state.jobs.remove(state.jobs.find(job_id, request.state.owner))
        return Response(status_code=204)

    return routes


def _shown_job(job: Job) -> dict[str, Any]:
    hidden = ("owner", "options")
    return {name: value for name, value in asdict(job).items() if name not in hidden}


def _pieces(file: Path, format: Format) -> Iterator[bytes]:
    """The table as text, some rows at a time, so that its size does not matter."""
    table = scan_parquet(file)
    rows = table.select(pl.len()).collect().item()
    for start in range(0, max(rows, 1), _ROWS_AT_ONCE):
        piece = table.slice(start, _ROWS_AT_ONCE).collect()
        out = io.BytesIO()
        if format == "csv":
            tame = piece.with_columns(map(csv_series, piece.select(pl.col(pl.String))))
            tame.write_csv(out, include_header=start == 0)
        else:
            piece.write_ndjson(out)
        yield out.getvalue()
