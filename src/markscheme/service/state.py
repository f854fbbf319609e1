"""What one running service is made of."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from markscheme.service.allowed import Allowed
from markscheme.service.jobs import Jobs
from markscheme.service.judging import Judging
from markscheme.service.metrics import Metrics
from markscheme.service.settings import Keys, Settings


@dataclass(kw_only=True)
class State:
    """The parts that routes work with.

    Attributes:
        description: of all requests, in OpenAPI's JSON.
        ready: the default judge has judged once, so nobody waits for its weights.
        stopping: nothing more is taken; what was is finished.
        time_limits: of the requests that are being answered.
        reading: lets one large body of a key be read at a time.
    """

    settings: Settings
    keys: Keys
    allowed: Allowed
    metrics: Metrics
    judging: Judging
    jobs: Jobs
    description: bytes = b""
    ready: bool = False
    stopping: bool = False
    time_limits: set[asyncio.Timeout] = field(default_factory=set)
    reading: dict[str, asyncio.Lock] = field(default_factory=dict)

    def finish_accepted(self) -> None:
        """Let what was accepted take as long as it needs: the service's grace bounds it.

        Called in the event loop.
        """
        for limit in self.time_limits:
            if not limit.expired():
                limit.reschedule(None)
