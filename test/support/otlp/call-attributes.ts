import type { Values } from '../../../harness/fixtures/spans.ts';

/** The attributes of a call's spans. */
export interface Content {
  readonly prompt: string;
  readonly response: string;
  readonly tokens: number;
}

/** A call without its texts. */
export const empty = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'claude' };

export const agentOf = (name: string, others: Values) => ({
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': name,
  ...others,
});

export const usageOf = ({ tokens }: Content) => ({
  'gen_ai.usage.input_tokens': tokens,
  'gen_ai.usage.output_tokens': 3,
});

/** A call with its texts. */
export const detailed = ({ prompt, response, tokens }: Content) => ({
  'openinference.span.kind': 'LLM',
  'llm.model_name': 'claude',
  'llm.input_messages.0.message.role': 'user',
  'llm.input_messages.0.message.content': prompt,
  'llm.output_messages.0.message.role': 'assistant',
  'llm.output_messages.0.message.content': response,
  'llm.token_count.prompt': tokens,
  'llm.token_count.completion': 3,
});
