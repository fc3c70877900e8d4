"""Records COUNT events and ends as the first argument says. The tests count what arrives."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import unittest.mock
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace

import weir
from weir.http.call import Call
from weir.wire.chat import chat_completions

count = int(os.environ.get("COUNT", "5"))
URL = SimpleNamespace(host="a.example", path="/")


def record(who: str = "program") -> None:
    for at in range(count):
        dimensions = {"at": at, "who": who}
        if "OBSERVED" in os.environ:
            with weir.trace(dimensions=dimensions):
                Call(weir.client().recorder, chat_completions, URL, b"{}", None).finish()
            continue
        weir.record(
            {
                "type": "llm",
                "additionalProperties": dimensions,
                "properties": {"llm": {"model": "m", "input": {"prompt": "Hi"}, "output": {"response": "Hello"}}},
            }
        )


def end_by_exception() -> None:
    record()
    raise RuntimeError("the end")


def end_by_signal(number: int) -> None:
    record()
    os.kill(os.getpid(), number)
    # The signal may come a moment later.
    signal.pause()


def end_by_os_exit() -> None:
    record()
    os._exit(0)


def fork() -> None:
    """The child records while the parent's events still wait: nothing is sent twice."""
    record("parent")
    child = os.fork()
    record("child" if child == 0 else "parent after")
    if child:
        os.waitpid(child, 0)
    else:
        sys.exit(0)


def fork_by_c() -> None:
    """As uWSGI forks: nothing of Python is called in the child. Beside a second thread that would be unsafe."""
    with unittest.mock.patch("threading.Thread.start", side_effect=RuntimeError("can't start new thread")):
        record("parent")
        child = ctypes.PyDLL(None).fork()
    record("child" if child == 0 else "parent after")
    if child:
        os.waitpid(child, 0)
    else:
        weir.flush()
        os._exit(0)


def fork_while_recording() -> None:
    """Threads hold locks at the moment of the fork."""
    is_over = threading.Event()
    threads = [threading.Thread(target=record, args=(f"thread {at}",)) for at in range(3)]
    for thread in threads:
        thread.start()
    children = []
    for at in range(3):
        child = os.fork()
        if child == 0:
            record(f"child {at}")
            weir.flush()
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    for thread in threads:
        thread.join()
    is_over.set()


def multiprocess(method: str) -> None:
    record("parent")
    context = multiprocessing.get_context(method)
    processes = [context.Process(target=record, args=(f"child {at}",)) for at in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def pool() -> None:
    with ProcessPoolExecutor(2) as executor:
        list(executor.map(record, ["worker 0", "worker 1"]))


def deliver() -> None:
    """Records nothing: sends what earlier processes left in the spool."""
    print(weir.client().flush(60))


ends = {
    "normal": record,
    "exception": end_by_exception,
    "sigterm": lambda: end_by_signal(signal.SIGTERM),
    "sigkill": lambda: end_by_signal(signal.SIGKILL),
    "os_exit": end_by_os_exit,
    "fork": fork,
    "fork_by_c": fork_by_c,
    "fork_while_recording": fork_while_recording,
    "multiprocessing_fork": lambda: multiprocess("fork"),
    "multiprocessing_spawn": lambda: multiprocess("spawn"),
    "multiprocessing_forkserver": lambda: multiprocess("forkserver"),
    "pool": pool,
    "deliver": deliver,
}

if __name__ == "__main__":
    weir.init(flush_on_sigterm="FLUSH_ON_SIGTERM" in os.environ)
    ends[sys.argv[1]]()
