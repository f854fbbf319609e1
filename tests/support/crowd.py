"""Many people labelling over a real connection at once, and what each was told is saved.

`python crowd.py ADDRESS TOKENS_FILE OUT LABELS THINK` is one process of them; it writes what was
acknowledged and how long each took.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from annotate_helpers import fields_of


async def annotator(
    address: str, token: str, labels: int, think: float, told: list[dict[str, Any]]
) -> None:
    """Sign in and label until done or cut off; `told` gets every label that was acknowledged."""
    rng = random.Random(token)
    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        await http.post("/session", data={"token": token})
        htmx = {"hx-request": "true"}
        html = (await http.get("/", headers=htmx)).text
        for _ in range(labels):
            if 'id="answer"' not in html:
                return
            await asyncio.sleep(think * rng.uniform(0.5, 1.5))
            form = fields_of(html) | {"say": rng.choice("10")}
            start = time.perf_counter()
            response = await http.post("/label", data=form, headers=htmx)
            took = time.perf_counter() - start
            if response.status_code != 200:
                raise AssertionError(f"{response.status_code}: {response.text[:200]}")
            told.append({"person": int(token.split(".")[0]), "item": int(form["item"]),
                         "value": float(form["say"]), "seconds": took})  # fmt: skip
            html = response.text


async def crowd(address: str, tokens: list[str], labels: int, think: float) -> list[dict[str, Any]]:
    """All of them at once, until done or until the server is gone."""
    told: list[dict[str, Any]] = []
    work = (annotator(address, token, labels, think, told) for token in tokens)
    for error in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(error, BaseException) and not isinstance(error, httpx.TransportError):
            raise error
    return told


if __name__ == "__main__":
    at, tokens_file, out, count, pause = sys.argv[1:]
    names = Path(tokens_file).read_text(encoding="utf-8").split()
    found = asyncio.run(crowd(at, names, int(count), float(pause)))
    Path(out).write_text(json.dumps(found), encoding="utf-8")
