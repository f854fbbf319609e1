"""A real PostgreSQL server for tests, on loopback, as a user who is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "pw-7f3a-of-the-test-server"

_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def programs() -> Path:
    """The folder with initdb and pg_ctl; installs PostgreSQL if this machine lacks it."""
    for attempt in range(2):
        folders = [*map(Path, os.environ.get("PATH", "").split(os.pathsep)), *_FOLDERS]
        folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        for folder in folders:
            if (folder / "initdb").exists():
                return (folder / "initdb").resolve().parent
        if attempt == 0 and os.geteuid() == 0 and shutil.which("apt-get"):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            for command in (["update", "-qq"], ["install", "-qq", "-y", "postgresql"]):
                subprocess.run(["apt-get", *command], check=False, env=environment, timeout=600)
    pytest.fail("PostgreSQL's initdb is not here and apt-get cannot install it; install postgresql")


@contextmanager
def running() -> Iterator[str]:
    """Start a server, give its URL, stop it and remove what it wrote."""
    folder = programs()
    home = Path(tempfile.mkdtemp(prefix="markscheme-pg-"))
    owner: dict[str, Any] = {}
    if os.geteuid() == 0:
        names = {user.pw_name for user in pwd.getpwall()}
        user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
        os.chown(home, user.pw_uid, user.pw_gid)
        owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    (home / "password").write_text(PASSWORD)
    (home / "password").chmod(0o644)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = home / "data"

    def call(program: str, *arguments: str) -> None:
        # Output goes to a file: the server would keep a pipe open.
        with (home / f"{program}.txt").open("wb") as out:
            subprocess.run(
                [folder / program, *arguments],
                check=True, cwd=home, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                timeout=120, **owner,
            )  # fmt: skip

    try:
        call(
            "initdb", "-D", str(data), "-U", "marker", "--pwfile", str(home / "password"),
            "-A", "scram-sha-256", "-E", "UTF8", "--no-sync",
        )  # fmt: skip
        settings = f"-c listen_addresses=127.0.0.1 -p {port} -c fsync=off -k {home}"
        call("pg_ctl", "-D", str(data), "-w", "-l", str(data / "log.txt"), "-o", settings, "start")
        try:
            yield f"postgresql://marker:{PASSWORD}@127.0.0.1:{port}/postgres"
        finally:
            call("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home)
