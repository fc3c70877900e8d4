"""Why a model stopped, in the words of OpenAI's chat completions."""

from __future__ import annotations

_SPELLINGS = {
    **dict.fromkeys(("end_turn", "stop_sequence", "complete", "completed", "finished"), "stop"),
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("tool_use", "tool_call", "function_call"), "tool_calls"),
    **dict.fromkeys(("safety", "refusal", "recitation", "blocklist", "prohibited_content", "spii"), "content_filter"),
}


def spell_reason(reason: str | None) -> str | None:
    """``tool_calls`` for ``tool-calls`` or ``tool_use``. Unknown reasons are in lower case."""
    if reason is None:
        return None
    name = reason.lower().replace("-", "_")
    return _SPELLINGS.get(name, name)
