"""The process that writes to a folder of the spool, as its lock file says."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any

from weir.limits import ABANDONED_S

_LOCK = "lock"

#: Two computed start times of one process differ by the resolution of the clocks.
_START_TOLERANCE_S = 3.0

_imported_at = time.time()


def lock(folder: str) -> None:
    """Locks a new folder.

    Raises:
        OSError: when it is locked already.
    """
    fd = os.open(os.path.join(folder, _LOCK), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "w") as file:
        file.write(json.dumps(_describe_self()))


def unlock(folder: str) -> None:
    """Releases a folder: the next spool that is opened takes it over."""
    with open(os.path.join(folder, _LOCK), "w") as file:
        file.write(json.dumps({**_describe_self(), "isClosed": True}))


def touch(folder: str) -> None:
    """Shows other hosts that the owner is alive."""
    os.utime(os.path.join(folder, _LOCK))


def find_orphans(root: str) -> list[str]:
    """The folders whose owner has ended. Folders of other users are left: their events have other keys."""
    with os.scandir(root) as entries:
        folders = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    return [folder for folder in sorted(folders) if _is_orphan(folder)]


def _describe_self() -> dict[str, Any]:
    pid = os.getpid()
    host, started_ms = socket.gethostname(), round(_imported_at * 1000)
    owner: dict[str, Any] = {"host": host, "pid": pid, "threadId": 0, "startedAtMs": started_ms}
    try:
        return {**owner, "startTicks": _start_ticks(pid)}
    except OSError:
        return owner


def _is_orphan(folder: str) -> bool:
    path = os.path.join(folder, _LOCK)
    try:
        if hasattr(os, "getuid") and os.lstat(folder).st_uid != os.getuid():
            return False
        with open(path) as file:
            owner = json.load(file)
        if owner.get("isClosed"):
            return True
        # On Windows `os.kill` would end the process.
        if owner["host"] != socket.gethostname() or os.name == "nt":
            return time.time() - os.stat(path).st_mtime > ABANDONED_S
        return not _is_running(owner["pid"], owner.get("startTicks"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return _is_old(folder)


def _is_old(folder: str) -> bool:
    """No lock, or one truncated by a crash: abandoned, unless it is being written now."""
    try:
        return time.time() - os.stat(folder).st_mtime > _START_TOLERANCE_S
    except OSError:
        return False


def _is_running(pid: int, ticks: int | None) -> bool:
    try:
        if ticks is not None:
            return _start_ticks(pid) == ticks
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except OSError as error:
        # Any other error: the process runs as another user.
        return not isinstance(error, ProcessLookupError)
    return True


def _start_ticks(pid: int) -> int | None:
    """When a process was started, in clock ticks since boot: it tells two processes of one pid apart.

    None for one that has ended, and whose parent has not noticed yet: it writes no more.

    Raises:
        OSError: when there is no such process, or no ``/proc``.
    """
    with open(f"/proc/{pid}/stat", "rb") as file:
        # The name of the program, in parentheses, may contain spaces.
        fields = file.read().rpartition(b") ")[2].split()
    return None if fields[0] == b"Z" else int(fields[19])
