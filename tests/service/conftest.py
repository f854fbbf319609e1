"""Services that tests open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from markscheme.service.settings import Keys, read_keys
from service_helpers import KEY, OTHER_KEY, make

Open = Callable[..., TestClient]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens services, which are closed at the end."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(TestClient(make(tmp_path, **options)))


@pytest.fixture
def client(opened: Open) -> TestClient:
    """A service without keys."""
    return opened()


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    """Two keys."""
    file = tmp_path / "keys"
    file.write_text(f"# who may ask\n{KEY}\n\n{OTHER_KEY}\n")
    return read_keys(file, None)
