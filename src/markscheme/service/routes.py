"""Judgments and rewards, and what may be asked."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from markscheme.contract import entry, name_of
from markscheme.service.allowed import Served
from markscheme.service.judging import reward
from markscheme.service.schemas import (
    ExplanationIn,
    ExplanationOut,
    Health,
    JudgesOut,
    JudgmentsIn,
    JudgmentsOut,
    RewardsIn,
    RewardsOut,
)
from markscheme.service.state import State


def json(body: Any, status: int = 200) -> Response:
    """A JSON response, past the framework's own conversions."""
    return Response(orjson.dumps(body), status, media_type="application/json")


def judging_routes(state: State) -> APIRouter:
    """The routes that judge."""
    routes = APIRouter(prefix="/v1", tags=["judging"])

    @routes.get("/judges", response_model=JudgesOut, summary="Judges that may be asked for")
    def allowed() -> Response:
        return json(
            {"judges": [_shown(one, state.allowed.default) for one in state.allowed.served]}
        )

    @routes.post("/judgments", response_model=JudgmentsOut, summary="Judge answers")
    async def judgments(request: Request, body: JudgmentsIn) -> Response:
        served = state.allowed.find(body.judge)
        outcomes = await state.judging.judge(served, body.answers, request.state.owner or "")
        return json({"judge": served.name, "signature": served.signature, "judgments": outcomes})

    @routes.post("/rewards", response_model=RewardsOut, summary="Reward answers, for training")
    async def rewards(request: Request, body: RewardsIn) -> Response:
        served = state.allowed.find(body.judge)
        outcomes = await state.judging.judge(served, body.answers, request.state.owner or "")
        not_judged: dict[str, int] = {}
        for outcome in outcomes:
            if outcome["status"] != "judged":
                not_judged[outcome["status"]] = not_judged.get(outcome["status"], 0) + 1
        values = [reward(one, body.by, wrong=body.wrong, right=body.right) for one in outcomes]
        return json(
            {
                "judge": served.name,
                "signature": served.signature,
                "rewards": values,
                "not_judged": not_judged,
            }
        )

    @routes.post(
        "/explanations", response_model=ExplanationOut, summary="Say why an answer is judged so"
    )
    async def explanations(request: Request, body: ExplanationIn) -> Response:
        served = [name_of(one.judge) for one in state.allowed.served]
        owner = request.state.owner or ""
        return json(await state.judging.explain(body, owner, examiner="examiner" in served))

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
