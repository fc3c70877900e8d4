"""The kill matrix: how a process ends, with a spool, without one, and with the server away."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from stub import Stub

_TESTS = Path(__file__).parent


def run(end: str, stub: Stub, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(_TESTS.parent / "src"),
        "WEIR_URL": stub.url,
        "WEIR_API_KEY": "key",
        **variables,
    }
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(_TESTS / "programs" / "ends.py"), end]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


#: The events of five records, by who recorded them.
_PARENT_AND_CHILDREN = {"parent": 5, "child 0": 5, "child 1": 5}
_ENDS = {
    "normal": {"program": 5},
    "exception": {"program": 5},
    "fork": {"parent": 5, "child": 5, "parent after": 5},
    "fork_by_c": {"parent": 5, "child": 5, "parent after": 5},
    "fork_while_recording": {f"{who} {at}": 5 for who in ("thread", "child") for at in range(3)},
    "multiprocessing_fork": _PARENT_AND_CHILDREN,
    "multiprocessing_spawn": _PARENT_AND_CHILDREN,
    "multiprocessing_forkserver": _PARENT_AND_CHILDREN,
    "pool": {"worker 0": 5, "worker 1": 5},
}
_KILLS = {"sigterm": {"program": 5}, "sigkill": {"program": 5}, "os_exit": {"program": 5}}


def count_by_who(stub: Stub) -> dict[str, int]:
    return dict(Counter(event["additionalProperties"]["who"] for event in stub.events))


@pytest.mark.parametrize("end", _ENDS)
def test_without_a_spool_ends_that_run_python_code_deliver_everything_once(end: str, stub: Stub) -> None:
    for variables in ({}, {"OBSERVED": "1"}):
        stub.forget()
        run(end, stub, **variables)
        assert count_by_who(stub) == _ENDS[end]
        assert set(stub.deliveries.values()) == {1}


def test_sigterm_delivers_when_it_is_asked_for_and_still_ends_the_process(stub: Stub) -> None:
    assert run("sigterm", stub, FLUSH_ON_SIGTERM="1").returncode == -15
    assert count_by_who(stub) == {"program": 5}


@pytest.mark.parametrize("is_away", [False, True], ids=["server there", "server away"])
@pytest.mark.parametrize("end", [*_ENDS, *_KILLS])
def test_with_a_spool_no_end_loses_an_event(end: str, is_away: bool, stub: Stub, tmp_path: Path) -> None:
    spool = str(tmp_path / "spool")
    if is_away:
        stub.close()
    run(end, stub, WEIR_SPOOL=spool)
    if is_away:
        assert stub.events == []
        stub.open()
    run("deliver", stub, WEIR_SPOOL=spool)
    assert count_by_who(stub) == {**_ENDS, **_KILLS}[end]
    assert list(Path(spool).iterdir()) == []


def test_ten_thousand_events_of_killed_processes_arrive_once(stub: Stub, tmp_path: Path) -> None:
    spool = str(tmp_path / "spool")
    for _ in range(10):
        run("sigkill", stub, WEIR_SPOOL=spool, COUNT="1000")
    run("deliver", stub, WEIR_SPOOL=spool)
    assert len(stub.events) == 10_000


def test_a_process_whose_server_is_away_ends_in_time_and_says_what_it_lost(stub: Stub) -> None:
    stub.close()
    ended = run("normal", stub)
    assert ended.returncode == 0
    assert "5 (unsent)" in ended.stderr
