"""Carries the scope of the running code to where contextvars do not follow."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weir.calls.activity import Activity, bind
from weir.event.scope import Entered, Scope, current_scope


def wrap(target: Any) -> Any:
    """An executor, in place, or a function, generator or coroutine in the scope of the running code.

    Contextvars of the application are not copied.
    """
    if hasattr(target, "submit") and hasattr(target, "shutdown"):
        if not hasattr(target.submit, "__wrapped__"):
            target.submit = _submitting(target.submit)
        return target
    scope = current_scope()._replace(attempts=None)
    if callable(target):
        return functools.wraps(target)(functools.partial(run_in, scope, target))
    return bind(target, Activity(scope))


def run_in(scope: Scope, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function of the module, so that a pool of processes can pickle it."""
    with Entered(scope):
        result = fn(*args, **kwargs)
    return bind(result, Activity(scope))


def _submitting(submit: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(submit)
    def submit_in_scope(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return submit(run_in, current_scope()._replace(attempts=None), fn, *args, **kwargs)

    return submit_in_scope
