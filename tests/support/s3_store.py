"""An S3 store of this process (moto), empty however often it was used before."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def s3_store() -> Iterator[dict[str, str]]:
    """The environment variables that lead to it; it is there within the block."""
    import httpx
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        # Servers of one process share their buckets.
        httpx.post(f"{address}/moto-api/reset").raise_for_status()
        s3fs.S3FileSystem.clear_instance_cache()  # It would still know an earlier address.
        yield {
            "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1",
        }  # fmt: skip
    finally:
        server.stop()
