"""Runs functions of any kind, also of executors, inside a scope, and tells how they ended."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, cast

from weir.event.scope import Entered, Scope, current_scope


class Activity:
    """A call of a function. Only its scope matters for traces; tools record its end."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def item(self, value: object) -> None:
        """A generator has yielded a value."""

    def end(self, value: object) -> None:
        """The function has returned, or its generator was closed."""

    def fail(self, error: BaseException) -> None:
        """The function has raised."""


def instrument(
    fn: Callable[..., Any], begin: Callable[[tuple[Any, ...], dict[str, Any]], Activity]
) -> Callable[..., Any]:
    """The same function, whose calls are activities. Results and exceptions are passed on unchanged.

    No task is created for a coroutine, so that time-outs and cancellation of the caller's task reach it. A
    generator has the scope of its call, wherever it is iterated.
    """
    import inspect

    if isinstance(fn, (staticmethod, classmethod)):
        # The descriptor of a method, which is called only when it is bound.
        return cast("Callable[..., Any]", type(fn)(instrument(fn.__func__, begin)))

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        activity = begin(args, kwargs)
        try:
            with Entered(activity.scope):
                result = fn(*args, **kwargs)
        except BaseException as error:
            activity.fail(error)
            raise
        return bind(result, activity)

    if not inspect.iscoroutinefunction(fn):
        return call

    @functools.wraps(fn)
    async def run(*args: Any, **kwargs: Any) -> Any:
        return await call(*args, **kwargs)

    return run


def bind(result: Any, activity: Activity) -> Any:
    """Makes the body of a generator or coroutine run in the activity; any other result ends it."""
    import inspect

    if inspect.isgenerator(result):
        return _generated(result, activity)
    if inspect.isasyncgen(result):
        return _generated_async(result, activity)
    if inspect.iscoroutine(result):
        return _awaited(result, activity)
    activity.end(result)
    return result


async def _awaited(coroutine: Coroutine[Any, Any, Any], activity: Activity) -> Any:
    try:
        with Entered(activity.scope):
            result = await coroutine
    except BaseException as error:
        activity.fail(error)
        raise
    activity.end(result)
    return result


def _generated(body: Generator[Any, Any, Any], activity: Activity) -> Generator[Any, Any, Any]:
    """Enters the scope for each step: the caller may iterate in other contexts, such as a thread pool's."""
    inside = Entered(activity.scope)
    step: Callable[[Any], Any] = body.send
    argument: Any = None
    while True:
        try:
            with inside:
                item = step(argument)
        except StopIteration as stop:
            activity.end(stop.value)
            return stop.value
        except BaseException as error:
            activity.fail(error)
            raise
        activity.item(item)
        try:
            step, argument = body.send, (yield item)
        except GeneratorExit:
            try:
                with inside:
                    body.close()
            except BaseException as error:
                activity.fail(error)
                raise
            activity.end(None)
            raise
        except BaseException as error:
            step, argument = body.throw, error


async def _generated_async(body: AsyncGenerator[Any, Any], activity: Activity) -> AsyncGenerator[Any, Any]:
    inside = Entered(activity.scope)
    step: Callable[[Any], Any] = body.asend
    argument: Any = None
    while True:
        try:
            with inside:
                item = await step(argument)
        except StopAsyncIteration:
            activity.end(None)
            return
        except BaseException as error:
            activity.fail(error)
            raise
        activity.item(item)
        try:
            step, argument = body.asend, (yield item)
        except GeneratorExit:
            try:
                with inside:
                    await body.aclose()
            except BaseException as error:
                activity.fail(error)
                raise
            activity.end(None)
            raise
        except BaseException as error:
            step, argument = body.athrow, error


def wrap(target: Any) -> Any:
    """Carries the scope of the running code to where contextvars do not follow.

    An executor is changed in place; a function, generator or coroutine is wrapped. Contextvars of the application
    are not copied.
    """
    import inspect

    if hasattr(target, "submit") and hasattr(target, "shutdown"):
        if not hasattr(target.submit, "__wrapped__"):
            target.submit = _submitting(target.submit)
        return target
    scope = current_scope()._replace(attempts=None)
    if callable(target):
        for fn in (target, target.__call__):
            if inspect.iscoroutinefunction(fn):
                # Frameworks await only what they know as such.
                return instrument(fn, lambda args, kwargs: Activity(scope))
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
