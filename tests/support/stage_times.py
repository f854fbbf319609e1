"""What a stage of tests takes: `pytest --stage NAME` measures it (docs/testing.md).

Only a whole run that passed leaves its measurement, in `build/times/NAME.json`: not one of chosen
tests (-k, paths). `scripts/proofs.py` makes stamps and a table of these files.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

CHOOSING = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "collectonly")
"""Options of pytest after which a run is not of the whole stage."""


def processor_seconds() -> float:
    """Of this process and of those that it started and waited for."""
    return sum(os.times()[:4])


def in_short(name: str) -> str:
    """A test's name without the folders of its file, at most 80 characters long."""
    file, colons, test = name.partition("::")
    return f"{file.rpartition('/')[2]}{colons}{test}"[:80]


class StageTimes:
    """A plugin: every process counts for its tests, the first one adds up and writes."""

    def __init__(self, config: pytest.Config, file: Path) -> None:
        """Forget what an earlier run has left, so that it cannot be taken for this one's."""
        self.file, self.began, self.before = file, time.time(), 0.0
        self.leads = not hasattr(config, "workerinput")
        self.whole = config.args_source == pytest.Config.ArgsSource.TESTPATHS and not any(
            config.getoption(name, None) for name in CHOOSING
        )
        self.seconds: dict[str, float] = {}
        self.processor_seconds = 0.0
        self.skipped: set[str] = set()
        self.recorded: dict[str, list[str]] = {}
        if self.leads:
            file.unlink(missing_ok=True)

    def pytest_runtest_logstart(self) -> None:
        """Begin to count for a test."""
        self.before = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write into the report of setup, call or teardown what it took; xdist carries it along."""
        report = yield
        now = processor_seconds()
        report.processor_seconds = now - self.before  # type: ignore[attr-defined]
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add up."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        self.processor_seconds += getattr(report, "processor_seconds", 0.0)
        if report.when == "call":
            for name, value in report.user_properties:
                self.recorded.setdefault(name, []).append(value)
        if report.skipped:
            self.skipped.add(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write what the stage took."""
        if not (self.leads and self.whole and exitstatus == pytest.ExitCode.OK):
            return
        slowest = sorted(self.seconds, key=self.seconds.__getitem__, reverse=True)[:3]
        measured = {
            "passed": len(self.seconds) - len(self.skipped),
            "skipped": len(self.skipped),
            "seconds": round(time.time() - self.began, 1),
            "processor_seconds": round(self.processor_seconds, 1),
            "date": datetime.now(UTC).date().isoformat(),
            "tests": hashlib.sha256("\n".join(sorted(self.seconds)).encode()).hexdigest(),
            "slowest": [[in_short(name), round(self.seconds[name], 1)]
                        for name in slowest],
            "recorded": {name: sorted(rows) for name, rows in self.recorded.items()},
            "began": self.began,
        }  # fmt: skip
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(measured, indent=2) + "\n", "utf-8")
