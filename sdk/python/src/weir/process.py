"""The ends and the forks of a process, in which events would be lost or sent twice."""

from __future__ import annotations

import atexit
import functools
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weir.recorder import Recorder


#: Strong references: events of a recorder that the program has dropped are delivered, too.
_recorders: list[Recorder] = []


def register(recorder: Recorder) -> None:
    _watch_process()
    _recorders.append(recorder)


def forget(recorder: Recorder) -> None:
    """For a recorder that is closed: nothing is left to deliver."""
    if recorder in _recorders:
        _recorders.remove(recorder)


def at_exit() -> None:
    """Delivers what is left. It may be called several times."""
    for recorder in _recorders:
        recorder.flush_at_exit()


def watch_children(flush: Callable[[], None]) -> None:
    """Calls ``flush`` at the end of a process of multiprocessing, or of Celery's billiard.

    Their children end by ``os._exit``, which skips ``atexit``. They forget at their start what was registered
    before: call this in the process that records.
    """
    for package in ("multiprocessing", "billiard"):
        util = sys.modules.get(f"{package}.util")
        # In a process that was not started by them, atexit runs after the children have ended.
        if util is not None and _is_child(package):
            util.Finalize(None, flush, exitpriority=-10)


def flush_on_sigterm(timeout_flush: Callable[[], object]) -> None:
    """Delivers when SIGTERM arrives, and then does what the signal did before.

    Raises:
        ValueError: in another thread than the main one.
    """
    import signal
    import threading

    previous = signal.getsignal(signal.SIGTERM)

    def deliver() -> None:
        try:
            timeout_flush()
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def handle(number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, previous if previous is not None else signal.SIG_DFL)
        # Not here: the interrupted code may hold a lock of its own that a callback needs.
        try:
            threading.Thread(target=deliver, name="weir-sigterm", daemon=True).start()
        except RuntimeError:
            os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, handle)


@functools.cache
def _watch_process() -> None:
    atexit.register(_end)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)


def _is_child(package: str) -> bool:
    process = sys.modules.get(f"{package}.process")
    current = getattr(process, "current_process", None)
    return current is not None and type(current()).__name__ not in ("_MainProcess", "MainProcess")


def _end() -> None:
    at_exit()
    for recorder in _recorders:
        recorder.end()


def _after_fork() -> None:
    for recorder in _recorders:
        recorder.after_fork()
