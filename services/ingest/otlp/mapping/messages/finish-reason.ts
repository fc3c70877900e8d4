/** Why a model stopped, as providers and frameworks name it, in the words of OpenAI's chat completions. */
const spellings: Readonly<Record<string, string>> = {
  ...{
    end_turn: 'stop',
    stop_sequence: 'stop',
    complete: 'stop',
    completed: 'stop',
    finished: 'stop',
    eos: 'stop',
  },
  ...{ max_tokens: 'length', max_output_tokens: 'length', model_context_window_exceeded: 'length' },
  ...{ tool_use: 'tool_calls', tool_call: 'tool_calls', function_call: 'tool_calls' },
  ...{ safety: 'content_filter', refusal: 'content_filter', recitation: 'content_filter' },
  ...{ blocklist: 'content_filter', prohibited_content: 'content_filter', spii: 'content_filter' },
  guardrail_intervened: 'content_filter',
};

/**
 * `tool_calls` for `tool-calls`, `TOOL_USE` or `FinishReason.TOOL_CALLS`. Unknown reasons are in lower case.
 */
export function spellReason(reason: string): string {
  // Semantic Kernel sends the name of its constant.
  const name = reason
    .replace(/^FinishReason\./, '')
    .toLowerCase()
    .replaceAll('-', '_');
  return spellings[name] ?? name;
}

/** @param reasons joined by `joinReasons`. */
export function spellReasons(reasons: string | undefined): string | undefined {
  return reasons && [...new Set(reasons.split(', ').map(spellReason))].join(', ');
}
