"""Google's API for Gemini, on both of its platforms."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

from weir.event.types import EventError, Json
from weir.wire.adapter import Adapter, LlmAnswer, LlmRequest, RequestParts, compose_request
from weir.wire.json_slice import slice_elements, slice_members
from weir.wire.read import as_index, as_list, as_object, as_text, first_text
from weir.wire.usage import compose_usage, sum_known


def _read_request(text: str, path: str) -> LlmRequest:
    """The model is a part of the path: ``/v1beta/models/gemini-3-pro:generateContent``."""
    model = re.search(r"/([^/]+):\w+$", path)
    return compose_request(text, _read_parts, unquote(model[1]) if model else None)


def _read_parts(body: Json) -> RequestParts:
    contents = [as_object(content) for content in as_list(body.get("contents"))]
    prompts = [text for content in contents if content.get("role") != "model" and (text := _text_of(content))]
    mime_type = str(as_object(body.get("generationConfig")).get("responseMimeType"))
    return RequestParts(
        system=_text_of(body.get("systemInstruction")),
        prompt=prompts[-1] if prompts else None,
        messages="contents",
        format={"type": "json"} if "json" in mime_type else None,
    )


def _text_of(content: Any) -> str:
    parts = [as_text(as_object(part).get("text")) for part in as_list(as_object(content).get("parts"))]
    return "\n".join(text for text in parts if text is not None)


class _Candidate:
    def __init__(self) -> None:
        self.response = self.reasoning = ""
        self.calls: list[Json] = []
        self.finish_reason: str | None = None

    def add_part(self, raw: str) -> None:
        part = as_object(json.loads(raw))
        if part.get("thought") is True:
            self.reasoning += as_text(part.get("text")) or ""
        else:
            self.response += as_text(part.get("text")) or ""
        call = part.get("functionCall")
        if call is None:
            return
        # The JSON text of the arguments: serializing them again would change their numbers.
        arguments = slice_members(slice_members(raw)["functionCall"]).get("args", "{}")
        call = as_object(call)
        self.calls.append({"id": as_text(call.get("id")), "name": as_text(call.get("name")), "arguments": arguments})


class _GeminiStream:
    """Collects the parts of each candidate. A whole answer is a stream of one chunk."""

    def __init__(self) -> None:
        self._last: Json = {}
        self._error: EventError | None = None
        self._candidates: dict[int, _Candidate] = {}

    def push(self, data: str) -> None:
        chunk = as_object(json.loads(data))
        if chunk.get("error") is not None:
            self._error = _read_error(as_object(chunk.pop("error")))
        # The counts are totals, and the last chunk may lack what earlier ones have.
        self._last.update(chunk)
        for text in slice_elements(slice_members(data).get("candidates", "")):
            self._add(text)

    def answer(self) -> LlmAnswer:
        blocked = as_text(as_object(self._last.get("promptFeedback")).get("blockReason"))
        first, *others = [candidate for _, candidate in sorted(self._candidates.items())] or [_Candidate()]
        finish_reason = first.finish_reason or blocked
        return LlmAnswer(
            model=as_text(self._last.get("modelVersion")),
            response=first.response,
            reasoning=first.reasoning or None,
            tool_calls=first.calls,
            other_responses=[other.response for other in others],
            usage=_read_usage(as_object(self._last.get("usageMetadata"))),
            finish_reason=finish_reason,
            service_tier=as_text(as_object(self._last.get("usageMetadata")).get("trafficType")),
            response_id=as_text(self._last.get("responseId")),
            error=self._error,
            is_complete=finish_reason is not None,
        )

    def _add(self, text: str) -> None:
        members = as_object(json.loads(text))
        candidate = self._candidates.setdefault(as_index(members.get("index")), _Candidate())
        candidate.finish_reason = as_text(members.get("finishReason")) or candidate.finish_reason
        content = slice_members(text).get("content", "")
        for part in slice_elements(slice_members(content).get("parts", "")):
            candidate.add_part(part)


def _read_answer(text: str) -> LlmAnswer:
    stream = _GeminiStream()
    # Without `alt=sse` a stream is a list of chunks.
    for chunk in slice_elements(text) if text.lstrip().startswith("[") else [text]:
        stream.push(chunk)
    return stream.answer()


def _read_error(error: Json) -> EventError:
    code = first_text(error.get("status"), str(error.get("code", "error")))
    return {"code": code or "error", "message": as_text(error.get("message")) or ""}


def _read_usage(counts: Json) -> Json | None:
    thoughts = counts.get("thoughtsTokenCount")
    return compose_usage(
        input=sum_known(counts.get("promptTokenCount"), counts.get("toolUsePromptTokenCount")),
        cache_read=counts.get("cachedContentTokenCount"),
        output=sum_known(counts.get("candidatesTokenCount"), thoughts),
        reasoning=thoughts,
        total=counts.get("totalTokenCount"),
        input_parts={
            "audioTokens": _of_modality(counts.get("promptTokensDetails"), "AUDIO"),
            "imageTokens": _of_modality(counts.get("promptTokensDetails"), "IMAGE"),
            "cacheReadAudioTokens": _of_modality(counts.get("cacheTokensDetails"), "AUDIO"),
            "cacheReadImageTokens": _of_modality(counts.get("cacheTokensDetails"), "IMAGE"),
        },
        output_parts={
            "audioTokens": _of_modality(counts.get("candidatesTokensDetails"), "AUDIO"),
            "imageTokens": _of_modality(counts.get("candidatesTokensDetails"), "IMAGE"),
        },
    )


def _of_modality(details: Any, modality: str) -> float | None:
    """The count in a list such as ``[{"modality": "AUDIO", "tokenCount": 5}]``."""
    own = [as_object(one) for one in as_list(details)]
    return sum_known(*(one.get("tokenCount") for one in own if one.get("modality") == modality))


generate_content = Adapter(
    source="google",
    source_package="google-genai",
    source_function="models.generate_content",
    path=re.compile(r":(generateContent|streamGenerateContent)$"),
    read_request=_read_request,
    read_answer=_read_answer,
    open_stream=_GeminiStream,
)
