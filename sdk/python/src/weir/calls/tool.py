"""Records calls of tools: functions, coroutines, generators and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weir.calls.activity import Activity, instrument
from weir.event.errors import describe_error
from weir.event.json_text import JsonText
from weir.event.scope import current_scope
from weir.event.types import EventError, Json, drop_none
from weir.limits import YIELD_CHARS_MAX, YIELDS_MAX
from weir.operation import Operation
from weir.recorder import Recorder

if TYPE_CHECKING:
    from weir.api import Weir


def wrap_tool(client: Weir, name: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; each call is recorded at its end. Events recorded inside have it as their parent."""
    read_input = _input_reader(fn)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Activity:
        scope = current_scope()
        if not client.is_enabled or scope.reported_tool == name:
            # What it calls itself is recorded again.
            return Activity(scope._replace(reported_tool=None))
        return _ToolCall(client.recorder, name, read_input(args, kwargs))

    return instrument(fn, begin)


class _ToolCall(Activity):
    def __init__(self, recorder: Recorder, name: str, given: Json) -> None:
        self._operation = Operation(recorder)
        super().__init__(current_scope()._replace(parent_event_id=self._operation.id, reported_tool=None))
        call_id = given.get("tool_call_id")
        self._head = drop_none({"name": name, "callId": call_id if isinstance(call_id, str) else None})
        # Tools may change their arguments: this is what was passed in.
        self._head["input"] = JsonText.of(given)
        self._yields = _Yields()

    def item(self, value: object) -> None:
        self._yields.add(value)

    def end(self, value: object) -> None:
        yielded = self._yields.list()
        # A generator that returns nothing has what it yielded as its output.
        if yielded is not None and value is None:
            self._finish({"output": yielded})
        else:
            self._finish({"output": JsonText.of(value), **drop_none({"yielded": yielded})})

    def fail(self, error: BaseException) -> None:
        self._finish({}, describe_error(error))

    def _finish(self, output: Json, error: EventError | None = None) -> None:
        name = self._head["name"]
        if self._operation.end():
            self._operation.record("tool", (name, "weir-sdk", name), {**self._head, **output}, error)


class _Yields:
    """The values that a generator has yielded, as they were then: the first ones and the last, within bounds."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._chars = self._omitted = 0
        self._last = ""

    def add(self, value: object) -> None:
        text = self._last = JsonText.of(value).text
        if self._omitted or len(self._texts) == YIELDS_MAX or self._chars + len(text) > YIELD_CHARS_MAX:
            self._omitted += 1
        else:
            self._texts.append(text)
            self._chars += len(text)

    def list(self) -> JsonText | None:
        texts = list(self._texts)
        if self._omitted > 1:
            texts.append(f'{{"omitted":{self._omitted - 1}}}')
        if self._omitted > 0:
            texts.append(self._last)
        return JsonText(f"[{','.join(texts)}]") if texts else None


def _input_reader(fn: Callable[..., Any]) -> Callable[[tuple[Any, ...], dict[str, Any]], Json]:
    """Reads the arguments of a call by their names, without ``self`` and ``cls``."""
    import inspect

    if isinstance(fn, (staticmethod, classmethod)):
        fn = fn.__func__
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return lambda args, kwargs: {"args": list(args), **kwargs} if args else kwargs

    def read(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Json:
        try:
            given = dict(signature.bind(*args, **kwargs).arguments)
        except TypeError:
            # The function itself will raise it.
            return {"args": list(args), **kwargs}
        first = next(iter(given), None)
        if first in ("self", "cls"):
            del given[first]
        return given

    return read
