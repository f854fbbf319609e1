"""How near to a server's own pace the client comes, and what a call costs in processor time.

    python -m benchmarks.chat [--calls 5000] [--delay 0.05] [--concurrency 64]

A server on loopback, in a process of its own, answers every request after the delay. Ideal is
concurrency divided by delay. The calls go all the way: through the official SDK, into a fresh
ledger on disk, back in order. Then they are sent again, which the ledger answers alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from markscheme.contract import ChatRequest, Message
from markscheme.models.chat.server_chat import ServerChat, ServerOptions
from markscheme.models.sources import ModelOptions, Models

SERVER = Path(__file__).parents[1] / "tests" / "support" / "servers.py"


def requests(count: int, what: str) -> list[ChatRequest]:
    """Requests of about sixty words, all different."""
    words = "Is the candidate answer to the question right, given the reference? " * 5
    return [
        ChatRequest(messages=(Message(role="user", content=f"{words}{what} {number}"),))
        for number in range(count)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--concurrency", type=int, default=64)
    given = parser.parse_args()
    ideal = given.concurrency / given.delay
    command = [sys.executable, str(SERVER), str(given.delay)]
    with (
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        assert server.stdout is not None
        reach = ServerOptions(
            base_url=server.stdout.readline().strip(), concurrency=given.concurrency
        )
        models = Models(
            options=ModelOptions(model="m", server=reach, ledger=f"{folder}/ledger.sqlite")
        )
        plain = ServerChat(name="m", options=reach)
        load = os.getloadavg()[0]
        print(f"ideal {ideal:,.0f} calls a second; load of the machine before: {load:.1f}")
        for chat, what in (
            (plain, "SDK alone"),
            (models.chat(), "SDK and ledger"),
            (models.chat(), "ledger alone"),
        ):
            if what != "ledger alone":
                chat.complete(requests(2 * given.concurrency, "warm"))
            asked = requests(given.calls, "call")
            wall, cpu = time.perf_counter(), time.process_time()
            replies = chat.complete(asked)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            assert all(reply.status == "ok" for reply in replies)
            rate = given.calls / wall
            share = f", {rate / ideal:.1%} of ideal" if what != "ledger alone" else ""
            print(
                f"{what:16}{rate:>9,.0f} calls/s{share}, "
                f"{1000 * cpu / given.calls:.3f} ms of processor time a call"
            )
        models.close()
        server.communicate()


if __name__ == "__main__":
    main()
