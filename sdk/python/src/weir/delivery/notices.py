"""Says each problem once: delivery is in the background, where a failure would go unnoticed."""

from __future__ import annotations


class Notices:
    def __init__(self) -> None:
        # Not at the import of the package, which has to be quick.
        import logging

        self._said: set[str] = set()
        self._logger = logging.getLogger("weir")

    def say(self, problem: str, text: str) -> None:
        """Logs a warning for the logger ``weir``, which Python prints when nobody has configured logging."""
        if problem in self._said:
            return
        self._said.add(problem)
        self._logger.warning("weir: %s", text)
