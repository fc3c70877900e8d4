"""Ollama's APIs for chats and completions. Their streams are newline-delimited JSON."""

from __future__ import annotations

import json
import re

from weir.event.types import Json
from weir.wire.adapter import Adapter, AnswerReader
from weir.wire.read import as_object, as_text, first_text, read_error, slice_elements, slice_member
from weir.wire.sse import LINE_END
from weir.wire.usage import compose_usage


class _OllamaReader(AnswerReader):
    """Joins the lines of an answer. The last one has the counts."""

    paths = (("model", "model"),)

    def push(self, data: str) -> None:
        body = self.body = as_object(json.loads(data))
        self.error = self.error or read_error(body.get("error"))
        self.is_over = body.get("done") is True
        choice, message = self.choice(), as_object(body.get("message"))
        response = first_text(message.get("content"), body.get("response"))
        choice.add_text(response, first_text(message.get("thinking"), body.get("thinking")))
        choice.finish_reason = as_text(body.get("done_reason"))
        for raw in slice_elements(slice_member(data, "message.tool_calls")):
            choice.add_call(raw, id="id", name="function.name", arguments="function.arguments")

    def read_usage(self) -> Json | None:
        return compose_usage(input=self.body.get("prompt_eval_count"), output=self.body.get("eval_count"))


ollama_chat, ollama_generate = (
    Adapter("ollama", "ollama", name, re.compile(rf"/api/{name}$"), _OllamaReader, event_end=LINE_END)
    for name in ("chat", "generate")
)
