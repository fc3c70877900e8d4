import { dropUndefined } from '../event/drop-undefined.ts';
import type { LlmProperties } from '../event/event.ts';
import type { LlmAnswer, LlmRequest } from './adapter.ts';
import { spellReason } from './finish-reason.ts';

/** Composes the payload of an LLM event (docs/api.md §2.6). */
export function composeLlm(
  request: LlmRequest | undefined,
  answer: LlmAnswer | undefined,
  others: Record<string, unknown>,
): LlmProperties {
  const { toolCalls = [], response = '', reasoning, otherResponses, cost } = answer ?? {};
  const mode = toolCalls.length > 0 ? 'tool_calls' : request?.isJson ? 'json' : 'text';
  const members: Record<string, unknown> = {
    model: answer?.model ?? request?.model,
    input: request?.input,
    output:
      answer &&
      dropUndefined({
        ...{ mode, response, reasoning, toolCalls, otherResponses },
        finishReason: spellReason(answer.finishReason),
      }),
    usage: answer?.usage,
    serviceTier: answer?.serviceTier,
    region: answer?.region,
    cost: typeof cost === 'number' && cost > 0 ? { total: cost, currency: 'USD' } : undefined,
    responseId: answer?.responseId,
    ...others,
  };
  return dropUndefined(members);
}
