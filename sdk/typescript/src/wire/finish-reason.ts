/** Why a model stopped, as providers and frameworks name it, in the words of OpenAI's chat completions. */
const spellings: Readonly<Record<string, string>> = {
  ...{ end_turn: 'stop', stop_sequence: 'stop', complete: 'stop', completed: 'stop', finished: 'stop' },
  ...{ max_tokens: 'length', max_output_tokens: 'length', model_context_window_exceeded: 'length' },
  ...{ tool_use: 'tool_calls', tool_call: 'tool_calls', function_call: 'tool_calls' },
  ...{ safety: 'content_filter', refusal: 'content_filter', recitation: 'content_filter' },
  ...{ blocklist: 'content_filter', prohibited_content: 'content_filter', spii: 'content_filter' },
};

/** `tool_calls` for `tool-calls` or `tool_use`. Unknown reasons are in lower case. */
export function spellReason(reason: string | undefined): string | undefined {
  const name = reason?.toLowerCase().replaceAll('-', '_');
  return name === undefined ? undefined : (spellings[name] ?? name);
}
