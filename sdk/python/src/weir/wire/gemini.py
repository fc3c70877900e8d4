"""Google's API for Gemini, on both of its platforms."""

from __future__ import annotations

import json
import re
from typing import Any

from weir.event.types import Json, drop_none
from weir.wire.adapter import Adapter, AnswerReader, Choice, LlmAnswer, LlmRequest, slice_lists
from weir.wire.read import (
    as_index,
    as_list,
    as_object,
    as_text,
    member,
    model_of,
    read_error,
    slice_elements,
    slice_member,
)
from weir.wire.usage import compose_usage, sum_known


def _read_request(text: str, path: str) -> LlmRequest:
    body = as_object(json.loads(text))
    contents = [as_object(content) for content in as_list(body.get("contents"))]
    prompts = [_text_of(content) for content in contents if content.get("role") != "model"]
    parts = {
        "system": _text_of(body.get("systemInstruction")) or None,
        "prompt": next(filter(None, reversed(prompts)), None),
        **slice_lists(text, messages=("contents",)),
    }
    is_json = "json" in str(member(body, "generationConfig.responseMimeType"))
    return LlmRequest(model_of(path) or as_text(body.get("model")), drop_none(parts), is_json)


def _text_of(content: Any) -> str:
    texts = [as_text(member(part, "text")) for part in as_list(member(content, "parts"))]
    return "\n".join(text for text in texts if text is not None)


class _GeminiReader(AnswerReader):
    """Collects the parts of each candidate."""

    paths = (("model", "modelVersion"), ("service_tier", "usageMetadata.trafficType"), ("response_id", "responseId"))

    def push(self, data: str) -> None:
        # Without `alt=sse` a stream is a list of chunks.
        for chunk in slice_elements(data) if data.lstrip().startswith("[") else [data]:
            self._push_chunk(chunk)

    def answer(self) -> LlmAnswer:
        blocked = as_text(member(self.body, "promptFeedback.blockReason"))
        answer = super().answer()
        finish_reason = answer.finish_reason or blocked
        return answer._replace(finish_reason=finish_reason, is_complete=finish_reason is not None)

    def _push_chunk(self, text: str) -> None:
        chunk = as_object(json.loads(text))
        self.error = read_error(chunk.pop("error", None)) or self.error
        # The counts are totals, and the last chunk may lack what earlier ones have.
        self.body |= chunk
        for raw in slice_elements(slice_member(text, "candidates")):
            members = as_object(json.loads(raw))
            choice = self.choice(as_index(members.get("index")))
            choice.finish_reason = as_text(members.get("finishReason")) or choice.finish_reason
            for part in slice_elements(slice_member(raw, "content.parts")):
                _add_part(choice, part)

    def read_usage(self) -> Json | None:
        counts = as_object(self.body.get("usageMetadata"))

        def of(details: str, modality: str) -> float | None:
            """The count in a list such as ``[{"modality": "AUDIO", "tokenCount": 5}]``."""
            own = [one for one in as_list(counts.get(details)) if member(one, "modality") == modality]
            return sum_known(*(one.get("tokenCount") for one in own))

        thoughts = counts.get("thoughtsTokenCount")
        return compose_usage(
            input=sum_known(counts.get("promptTokenCount"), counts.get("toolUsePromptTokenCount")),
            cache_read=counts.get("cachedContentTokenCount"),
            output=sum_known(counts.get("candidatesTokenCount"), thoughts),
            reasoning=thoughts,
            total=counts.get("totalTokenCount"),
            input_parts={
                "audioTokens": of("promptTokensDetails", "AUDIO"),
                "imageTokens": of("promptTokensDetails", "IMAGE"),
                "cacheReadAudioTokens": of("cacheTokensDetails", "AUDIO"),
                "cacheReadImageTokens": of("cacheTokensDetails", "IMAGE"),
            },
            output_parts={
                "audioTokens": of("candidatesTokensDetails", "AUDIO"),
                "imageTokens": of("candidatesTokensDetails", "IMAGE"),
            },
        )


def _add_part(choice: Choice, raw: str) -> None:
    part = as_object(json.loads(raw))
    text = as_text(part.get("text"))
    is_thought = part.get("thought") is True
    choice.add_text(None if is_thought else text, text if is_thought else None)
    if part.get("functionCall") is not None:
        choice.add_call(raw, id="functionCall.id", name="functionCall.name", arguments="functionCall.args")


_PATH = re.compile(r":(generateContent|streamGenerateContent)$")

generate_content = Adapter("google", "google-genai", "models.generate_content", _PATH, _GeminiReader, _read_request)
