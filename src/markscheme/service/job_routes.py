"""Jobs over HTTP: send a file, ask how far it is, fetch its judgments, remove it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from fastapi import APIRouter, Form, Request, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse, StreamingResponse

from markscheme.service.jobs import Job
from markscheme.service.routes import json
from markscheme.service.schemas import JobIn, JobOut
from markscheme.service.state import State
from markscheme.tables import scan_parquet

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
    routes = APIRouter(prefix="/v1/jobs", tags=["jobs"])

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
        response = json(_shown(job), 202)
        response.headers["location"] = f"/v1/jobs/{job.id}"
        return response

    @routes.get("/{job_id}", response_model=JobOut, summary="State and progress of a job")
    async def state_of(request: Request, job_id: JobId) -> Response:
        return json(_shown(state.jobs.find(job_id, request.state.owner)))

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


def _shown(job: Job) -> dict[str, Any]:
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
            piece.write_csv(out, include_header=start == 0)
        else:
            piece.write_ndjson(out)
        yield out.getvalue()
