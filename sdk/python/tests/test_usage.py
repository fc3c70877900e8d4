"""What decides the price of a call, as each provider says it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from weir.http.call import Call
from weir.wire.adapter import Adapter, compose_llm
from weir.wire.chat import chat_completions
from weir.wire.gemini import generate_content
from weir.wire.messages import messages
from weir.wire.responses import responses


def _read(adapter: Adapter, body: Any) -> Any:
    return compose_llm(None, adapter.read_answer(json.dumps(body)))


def test_anthropic_has_lives_of_the_cache_searches_conditions_and_compactions() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "output_tokens": 7,
        "server_tool_use": {"web_search_requests": 3},
        "service_tier": "priority",
        "inference_geo": "us",
        "iterations": [{"type": "message", "input_tokens": 10}, {"type": "compaction", "input_tokens": 100}],
    }
    iterations: Any = usage["iterations"]
    iterations.append({"type": "advisor_message", "model": "opus", "input_tokens": 8, "output_tokens": 3})
    (advice,) = messages.read_answer(json.dumps({"usage": usage})).inner_calls
    assert (advice["model"], advice["usage"]["inputTokens"]) == ("opus", 8)
    llm = _read(messages, {"usage": usage, "stop_reason": "end_turn", "content": []})
    assert llm["usage"]["inputTokens"] == 145
    assert llm["usage"]["inputTokenDetails"]["cacheWriteHourTokens"] == 20
    assert llm["usage"]["webSearches"] == 3
    assert (llm["serviceTier"], llm["region"]) == ("priority", "us")
    assert llm["output"]["finishReason"] == "stop"


def test_openai_has_audio_the_tier_of_the_response_and_the_cost_of_openrouter() -> None:
    details = {"cached_tokens": 4, "audio_tokens": 9, "cached_tokens_details": {"audio_tokens": 3}}
    usage = {"prompt_tokens": 20, "completion_tokens": 10, "prompt_tokens_details": details, "cost": 0.5}
    llm = _read(chat_completions, {"usage": usage, "service_tier": "flex"})
    assert llm["usage"]["inputTokenDetails"]["audioTokens"] == 9
    assert llm["usage"]["inputTokenDetails"]["cacheReadAudioTokens"] == 3
    assert (llm["serviceTier"], llm["cost"]) == ("flex", {"total": 0.5, "currency": "USD"})
    assert _read(responses, {"service_tier": "priority"})["serviceTier"] == "priority"


def test_google_has_modalities_and_the_kind_of_traffic() -> None:
    usage = {
        "promptTokenCount": 20,
        "candidatesTokenCount": 10,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 8}, {"modality": "AUDIO", "tokenCount": 12}],
        "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 9}],
        "trafficType": "ON_DEMAND_FLEX",
    }
    llm = _read(generate_content, {"usageMetadata": usage})
    assert llm["usage"]["inputTokenDetails"] == {"audioTokens": 12}
    assert llm["usage"]["outputTokenDetails"] == {"imageTokens": 9}
    assert llm["serviceTier"] == "ON_DEMAND_FLEX"


def test_the_address_of_openai_says_the_region() -> None:
    recorded: list[Any] = []
    url = SimpleNamespace(host="eu.api.openai.com", path="/v1/responses")
    recorder: Any = SimpleNamespace(record=recorded.append, observed_responses=[], defer=lambda record, size: record())
    Call(recorder, responses, url, None, None).finish(lambda: (responses.read_answer("{}"), None))
    assert [event["properties"]["llm"]["region"] for event in recorded] == ["eu"]
