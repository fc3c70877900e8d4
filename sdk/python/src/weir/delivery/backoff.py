"""When the next request may be sent."""

from __future__ import annotations

import random
import time

from weir.limits import BACKOFF_FIRST_S, BACKOFF_MAX_S


class Backoff:
    """At once, or after a random wait below a ceiling that doubles with each failure."""

    def __init__(self) -> None:
        self._failures = 0
        self._jitter_until = self._held_until = 0.0

    @property
    def wait(self) -> float:
        """Seconds; 0 when a request may be sent now."""
        return max(0.0, max(self._jitter_until, self._held_until) - time.monotonic())

    def fail(self, after: float) -> None:
        """Retry-After gets a jitter, too: otherwise clients that were rejected together come back together."""
        ceiling = min(BACKOFF_MAX_S, BACKOFF_FIRST_S * 2 ** min(self._failures, 16))
        self._failures += 1
        self._jitter_until = time.monotonic() + after + random.random() * ceiling
        if after > 0:
            self.hold(after)

    def hold(self, seconds: float) -> None:
        """No request before this time, not even for ``flush()``."""
        self._held_until = time.monotonic() + seconds

    def skip_jitter(self) -> None:
        self._jitter_until = 0.0

    def reset(self) -> None:
        self._failures = 0
        self._jitter_until = self._held_until = 0.0
