"""The labelling app under a crowd: `python -m benchmarks.annotate`.

Starts `markscheme annotate` on loopback, lets `--people` annotators in other processes label until
`--labels` are saved, and prints how long a label takes from its sending to its being on disk with
the next item shown. `--think 0` asks as fast as it can; people do not.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CROWD = Path(__file__).parents[1] / "tests" / "support" / "crowd.py"


def main() -> None:
    """Print latency, rate and what is saved."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--people", type=int, default=50)
    options.add_argument("--labels", type=int, default=5000)
    options.add_argument("--think", type=float, default=1.0, help="mean seconds between two labels")
    options.add_argument("--crowds", type=int, default=1, help="processes the people are in")
    options.add_argument("--project", help="postgresql://... in place of a SQLite file")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), chosen)


def run(folder: Path, chosen: argparse.Namespace) -> None:
    """One server, one crowd."""
    answers, links = folder / "answers.jsonl", folder / "links.csv"
    items = chosen.labels // 2
    with answers.open("w", encoding="utf-8") as stream:
        for n in range(items):
            row = {"question": f"Question {n}?", "references": [f"r{n}"], "answer": f"a{n}"}
            stream.write(json.dumps(row | {"system": "s"}) + "\n")
    kept = chosen.project or str(folder / "labels.sqlite")
    people = [word for n in range(chosen.people) for word in ("-a", f"p{n}")]
    log = folder / "log"
    command = [sys.executable, "-m", "markscheme", "annotate", str(answers), "--project", kept,
               "--no-adjudicate", "--port", "0", "--links", str(links), *people]  # fmt: skip
    with log.open("wb") as stream:
        server = subprocess.Popen(command, stdout=stream, stderr=stream)
    try:
        address = wait(server, log)
        tokens = re.findall(r"^p\d+,.*#(\S+)", links.read_text(), re.MULTILINE)
        start = time.perf_counter()
        crowds = []
        for n in range(chosen.crowds):
            mine = folder / f"tokens-{n}"
            mine.write_text("\n".join(tokens[n :: chosen.crowds]))
            out = folder / f"told-{n}.json"
            arguments = [address, str(mine), str(out), str(chosen.labels), str(chosen.think)]
            crowds.append((subprocess.Popen([sys.executable, str(CROWD), *arguments]), out))
        told = []
        for process, out in crowds:
            if process.wait():
                raise SystemExit("a crowd failed; see above")
            told += json.loads(out.read_text())
        seconds = time.perf_counter() - start
        busy = cpu(server.pid)
    finally:
        server.terminate()
        server.wait()
    took = sorted(label["seconds"] for label in told)
    if not chosen.project:
        with sqlite3.connect(kept) as plain:
            rows = plain.execute("SELECT person_id, item_id, value FROM ratings WHERE value >= 0")
            saved = {(person, item): value for person, item, value in rows}
        lost = sum(saved.get((x["person"], x["item"])) != x["value"] for x in told)
        print(f"{len(told):,} labels acknowledged, {len(saved):,} saved, {lost} lost")

    def at(share: float) -> str:
        return f"{1000 * took[min(len(took) - 1, int(share * len(took)))]:.1f} ms"

    print(f"{chosen.people} people, {chosen.think:g} s between labels, {len(told) / seconds:.0f} "
          f"labels a second")  # fmt: skip
    print(f"median {at(0.5)}, p95 {at(0.95)}, p99 {at(0.99)}, slowest {at(1.0)}")
    if busy is not None:
        print(f"the server's CPU time, start included: {1000 * busy / len(told):.1f} ms a label")
    load = Path("/proc/loadavg")
    if load.exists():
        print(f"load average of the machine at the end: {load.read_text().split()[0]}")


def cpu(process: int) -> float | None:
    """Seconds of CPU a process has used, where the system tells."""
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return None
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait(server: subprocess.Popen[bytes], log: Path) -> str:
    """The address, once it is there."""
    for _ in range(600):
        said = re.search(r"serving on (http\S+);", log.read_text())
        if said:
            return said[1]
        if server.poll() is not None:
            break
        time.sleep(0.2)
    raise SystemExit(f"the server does not come up:\n{log.read_text()}")


if __name__ == "__main__":
    main()
