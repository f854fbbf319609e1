"""The service compared with the library: `python -m benchmarks.service`, or with `--soak MINUTES`.

Starts `markscheme serve` with the examiner on loopback. The first form measures batches of 64 in
process and over HTTP in turn, then single answers at a steady 50 requests a second; latency counts
from when a request was due, not from when it could be sent. The second sends bad requests of every
kind, mixed with good ones, and watches for 5xx and for memory. `--worst SECONDS`: one key sends
rows that take longest within the limits, four requests at a time; another key's single answers are
timed next to it, and alone before it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BATCH = 64
FIELDS = ("question", "references", "answer")
KEYS = ("the-key-of-the-benchmark", "the-key-of-somebody-else")


def main() -> None:
    """Print the figures, and the machine's load with them."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--soak", type=float, metavar="MINUTES", help="bad requests, this long")
    options.add_argument(
        "--worst", type=float, metavar="SECONDS", help="the longest rows, this long"
    )
    options.add_argument("--batches", type=int, default=30, help="batches in each round")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=60, help="of single answers")
    options.add_argument("--rate", type=float, default=50, help="single answers a second")
    chosen = options.parse_args()
    print(f"load average at the start: {load()}; cores: {os.cpu_count()}")
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as (process, port):
        if chosen.worst:
            worst(process.pid, port, chosen.worst, chosen.rate)
        elif chosen.soak:
            soak(process.pid, port, chosen.soak)
        else:
            if chosen.rounds:
                batches(port, chosen.batches, chosen.rounds)
            singles(process.pid, port, chosen.seconds, chosen.rate)
    print(f"load average at the end: {load()}")


def load() -> str:
    """Load averages of 1, 5 and 15 minutes."""
    return " ".join(f"{one:.1f}" for one in os.getloadavg())


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The service, once it is ready, and its port."""
    log = folder / "log"
    keys = folder / "keys"
    keys.write_text("".join(f"{key}\n" for key in KEYS))
    command = [sys.executable, "-m", "markscheme", "serve", "--port", "0", "--allow", "examiner",
               "--allow", "contains", "--allow", "claims", "--jobs", str(folder / "jobs"),
               "--keys", str(keys)]  # fmt: skip
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream)
    try:
        for _ in range(600):
            said = re.search(r"serving on http://127.0.0.1:(\d+);", log.read_text())
            with suppress(OSError):
                if said and ask(http.client.HTTPConnection("127.0.0.1", int(said[1])),
                                "GET", "/readyz")[0] == 200:  # fmt: skip
                    yield process, int(said[1])
                    break
            if process.poll() is not None:
                break
            time.sleep(0.2)
        else:
            raise SystemExit(f"the service does not come up:\n{log.read_text()}")
    finally:
        process.terminate()
        process.wait()
    for line, count in Counter(log.read_text().split("stops it\n", 1)[-1].splitlines()).items():
        print(f"the service's log, {count} times: {line}")


def ask(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    """A response's status and body."""
    sent = {"authorization": f"Bearer {KEYS[0]}", "content-type": "application/json"}
    sent |= headers or {}
    connection.request(method, path, body, sent)
    response = connection.getresponse()
    return response.status, response.read()


def rows(count: int) -> list[dict[str, Any]]:
    """Rows of the bundled example, no two alike."""
    lines = (ROOT / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    found = [{key: row[key] for key in FIELDS} for row in map(json.loads, lines)]
    found = [row for row in found if row["answer"]]
    return [
        {**found[n % len(found)], "answer": f"{found[n % len(found)]['answer']} ({n})"}
        for n in range(count)
    ]


def batches(port: int, count: int, rounds: int) -> None:
    """Rates of batches of 64: in process, over one connection, over four at once."""
    import markscheme

    every = rows(count * BATCH)
    cut = [every[start : start + BATCH] for start in range(0, len(every), BATCH)]
    bodies = [json.dumps({"answers": batch}).encode() for batch in cut]
    here = threading.local()

    def send(body: bytes) -> None:
        if not hasattr(here, "connection"):
            here.connection = http.client.HTTPConnection("127.0.0.1", port)
        status, text = ask(here.connection, "POST", "/v1/judgments", body)
        assert status == 200, text

    def one_by_one() -> None:
        for body in bodies:
            send(body)

    def four_at_once() -> None:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(send, bodies))

    def in_process() -> None:
        for batch in cut:
            markscheme.judge(batch, "examiner")

    def timed(work: Callable[[], None]) -> float:
        began = time.perf_counter()
        work()
        return len(every) / (time.perf_counter() - began)

    ways = {
        "in process": in_process, "one connection": one_by_one, "four connections": four_at_once,
    }  # fmt: skip
    markscheme.judge(cut[0], "examiner")
    send(bodies[0])
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            rates[name].append(timed(work))
    base = statistics.median(rates["in process"])
    print(f"batches of {BATCH}, examiner, {rounds} rounds of {count} batches, each way in turn:")
    for name, found in rates.items():
        middle = statistics.median(found)
        print(
            f"  {name:<17} {middle:7.0f} answers a second ({100 * middle / base:.0f}%; rounds: "
            f"{', '.join(f'{one:.0f}' for one in found)})"
        )


def worst(pid: int, port: int, seconds: float, rate: float) -> None:
    """Latency of one key's single answers, alone and while another sends the longest rows."""
    words = " ".join(f"word{n} is not {n}." for n in range(1_000))
    row = {"question": "Which?", "references": [words] * 5, "answer": words}
    body = json.dumps({"judge": "claims", "answers": [row] * 20}).encode()
    ended = threading.Event()
    answered: Counter[str] = Counter()

    def attack() -> None:
        while not ended.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                key = {"authorization": f"Bearer {KEYS[1]}"}
                status, _ = ask(connection, "POST", "/v1/judgments", body, key)
                answered[str(status)] += 1
            except (OSError, http.client.HTTPException) as error:
                answered[type(error).__name__] += 1
            finally:
                connection.close()

    print("alone:")
    singles(pid, port, seconds, rate, judge="contains")
    threads = [threading.Thread(target=attack, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    print(f"next to four connections of another key with {len(body):,} bytes to claims each:")
    singles(pid, port, seconds, rate, judge="contains")
    ended.set()
    for thread in threads:
        thread.join()
    print(f"the other key was answered: {dict(answered)}")


def singles(pid: int, port: int, seconds: float, rate: float, judge: str = "examiner") -> None:
    """Latency of single answers at a steady rate."""
    count = int(seconds * rate)
    bodies = [json.dumps({"judge": judge, "answers": [row]}).encode() for row in rows(count)]
    here = threading.local()
    used = cpu(pid)
    start = time.perf_counter() + 0.5

    def send(n: int) -> float:
        if not hasattr(here, "connection"):
            here.connection = http.client.HTTPConnection("127.0.0.1", port)
        status, text = ask(here.connection, "POST", "/v1/judgments", bodies[n])
        assert status == 200, text
        return time.perf_counter() - (start + n / rate)

    with ThreadPoolExecutor(64) as threads:
        waiting = []
        for n in range(count):
            time.sleep(max(0.0, start + n / rate - time.perf_counter()))
            waiting.append(threads.submit(send, n))
        took = sorted(one.result() for one in waiting)

    def at(share: float) -> str:
        return f"{1000 * took[min(count - 1, int(share * count))]:.0f} ms"

    print(
        f"single answers, {rate:g} a second for {seconds:g} s: median {at(0.5)}, p95 {at(0.95)}, "
        f"p99 {at(0.99)}, slowest {at(1)}"
    )
    print(f"the service's own work: {1000 * (cpu(pid) - used) / count:.1f} ms of CPU an answer")


def cpu(pid: int) -> float:
    """Seconds of CPU a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Resident memory of a process, in MB."""
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1e3


def soak(pid: int, port: int, minutes: float) -> None:
    """Bad requests from eight threads; statuses counted, memory sampled."""
    until = time.monotonic() + 60 * minutes
    counts: Counter[str] = Counter()
    samples: list[float] = []

    def attack(seed: int) -> None:
        chance = random.Random(seed)
        while time.monotonic() < until:
            kind = chance.choice(KINDS)
            try:
                counts[f"{kind.__name__.strip('_')}: {kind(port, chance)}"] += 1
            except (OSError, http.client.HTTPException) as error:
                # A server may close on whoever sends nonsense; whether it lives is asked below.
                counts[f"{kind.__name__.strip('_')}: {type(error).__name__}"] += 1

    threads = [threading.Thread(target=attack, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        samples.append(memory(pid))
        time.sleep(0.5)
    for text, count in sorted(counts.items()):
        print(f"  {count:>8,}  {text}")
    broken = sum(count for text, count in counts.items() if re.search(r": 5\d\d$", text))
    fifth = max(1, len(samples) // 5)
    early, late = samples[fifth : 2 * fifth], samples[-fifth:]
    print(f"{sum(counts.values()):,} requests in {minutes:g} minutes, {broken} answered with 5xx")
    print(
        f"memory in MB: start {samples[0]:.0f}, second fifth of the time "
        f"{statistics.mean(early):.0f}, last fifth {statistics.mean(late):.0f}, "
        f"most {max(samples):.0f}"
    )
    status, _ = ask(http.client.HTTPConnection("127.0.0.1", port), "GET", "/readyz")
    print(f"ready afterwards: {status == 200}")


def _post(port: int, body: bytes, path: str = "/v1/judgments", **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    sent = {"content-type": "application/json", **headers}
    try:
        return ask(connection, "POST", path, body, sent)[0]
    finally:
        connection.close()


def _row(chance: random.Random, **changes: Any) -> bytes:
    row = {"question": "Who?", "references": ["Ann"], "answer": f"Ben {chance.random()}"}
    return json.dumps({"answers": [{**row, **changes}]}).encode()


def good(port: int, chance: random.Random) -> int:
    """A request as it should be."""
    return _post(port, _row(chance), path=chance.choice(["/v1/judgments", "/v1/rewards"]))


def malformed(port: int, chance: random.Random) -> int:
    """A request with a piece cut off or bytes changed."""
    body = bytearray(_row(chance))
    for _ in range(chance.randint(1, 5)):
        body[chance.randrange(len(body))] = chance.randrange(256)
    return _post(port, bytes(body[: chance.randrange(len(body))]))


def wrong_types(port: int, chance: random.Random) -> int:
    """Values of other types than the schema's."""
    value: Any = chance.choice([None, 7, [], {}, True, [[["x"]]], "\ud800", "a\x00b", " ", 1e308])
    return _post(port, _row(chance, **{chance.choice(FIELDS): value}))


def deep(port: int, chance: random.Random) -> int:
    """Brackets within brackets."""
    return _post(port, b"[" * chance.randrange(1, 100_000))


def huge(port: int, chance: random.Random) -> int:
    """A body over the limit, or a text over its own."""
    return _post(port, _row(chance, answer="x" * chance.choice([200_000, 5_000_000])))


def many(port: int, chance: random.Random) -> int:
    """More rows than a request may have."""
    row = json.loads(_row(chance))["answers"][0]
    return _post(port, json.dumps({"answers": [row] * 1001}).encode())


def judges(port: int, chance: random.Random) -> int:
    """Judges that do not exist or are not allowed."""
    name = chance.choice(
        ["nope", "rouge1", "((", "llm_prompt(file='/etc/passwd')", "\x00", "x" * 9]
    )
    return _post(port, json.dumps({"judge": name, **json.loads(_row(chance))}).encode())


def places(port: int, chance: random.Random) -> int:
    """Addresses and methods that are not there."""
    path = chance.choice(["/", "/v1/jobs/x", "/v1/../etc/passwd", "/%00", f"/{chance.random()}"])
    method = chance.choice(["GET", "PUT", "BREW", "DELETE"])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        return ask(connection, method, path, None, {"x-request-id": "\t" + "i" * 99})[0]
    finally:
        connection.close()


def uploads(port: int, chance: random.Random) -> int:
    """Forms that are no jobs."""
    kind = chance.choice(["multipart/form-data", "multipart/form-data; boundary=x", "text/plain"])
    body = chance.choice(
        [b"", b"--x\r\n\r\n--x--", b"--x\r\nContent-Disposition: form-data\r\n\r\n"]
    )
    return _post(port, body, "/v1/jobs", **{"content-type": kind})


def nonsense(port: int, chance: random.Random) -> str:
    """Bytes that are no HTTP, or half a request and goodbye."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
        half = b"POST /v1/judgments HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{"
        plain.sendall(chance.choice([chance.randbytes(300) + b"\r\n\r\n", half]))
        return "sent"


KINDS = (good, malformed, wrong_types, deep, huge, many, judges, places, uploads, nonsense)

if __name__ == "__main__":
    main()
