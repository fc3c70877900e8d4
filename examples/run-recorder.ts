import type { Random } from '../lib/random.ts';
import { type Customer, systemPrompt, type ToolStep, type Turn, tools } from './bike-shop.ts';

/** Records one run, a conversation with one customer, as the events that an instrumented agent sends. */
export class RunRecorder {
  readonly events: object[] = [];
  readonly #random: Random;
  readonly #common: { traceId: string; context: object; additionalProperties: object };
  readonly #model: string;
  readonly #provider: string;
  #prompt = '';
  #nowMs: number;

  constructor(random: Random, customer: Customer, startMs: number) {
    this.#random = random;
    this.#nowMs = startMs;
    [this.#model, this.#provider] = random.pick([
      ['gpt-4o', 'openai'],
      ['gpt-4o-mini', 'openai'],
      ['mistral-large-latest', 'mistral'],
    ]);
    this.#common = {
      traceId: random.uuid(),
      context: {
        threadId: `thread-${random.between(100_000, 999_999)}`,
        agentId: 'support-agent',
        agentGroupId: 'spoke-and-saddle',
        userId: customer.id,
      },
      additionalProperties: { channel: random.pick(['chat', 'mail']), release: '2026.44.1', attempt: 1 },
    };
  }

  addTurn(turn: Turn): void {
    this.#prompt += `Customer: ${turn.customer}\n`;
    for (const step of turn.steps) {
      const callId = `call_${this.#random.between(1_000_000, 9_999_999)}`;
      this.#addLlmCall({
        mode: 'tool_calls',
        response: '',
        toolCalls: [{ id: callId, name: step.name, arguments: step.input }],
      });
      this.#addToolCall(step, callId);
    }
    if (this.#random.between(1, 6) === 1) this.#addRefusedLlmCall();
    this.#addLlmCall({ mode: 'text', response: turn.answer, toolCalls: [] });
    this.#prompt += `Agent: ${turn.answer}\n`;
    // The time in which the customer reads and types.
    this.#nowMs += this.#random.between(8_000, 40_000);
  }

  #addLlmCall(output: { mode: string; response: string; toolCalls: object[] }): void {
    const inputTokens = countTokens(systemPrompt + this.#prompt + JSON.stringify(tools));
    const outputTokens = countTokens(output.response + JSON.stringify(output.toolCalls));
    // Providers cache the common prefix of prompts in steps of 128 tokens.
    const cacheReadTokens = this.events.length === 0 ? 0 : Math.floor(inputTokens / 128) * 128 - 128;
    this.#add('llm', { state: 'ok' }, 350 + outputTokens * this.#random.between(9, 16), {
      ...this.#llmInput(),
      output,
      usage: {
        inputTokens,
        inputTokenDetails: {
          uncachedTokens: inputTokens - cacheReadTokens,
          cacheReadTokens,
          cacheWriteTokens: 0,
        },
        outputTokens,
        outputTokenDetails: { reasoningTokens: 0, responseTokens: outputTokens },
        totalTokens: inputTokens + outputTokens,
      },
    });
  }

  #addRefusedLlmCall(): void {
    const error = {
      code: 'rate_limit_exceeded',
      httpStatus: 429,
      message: 'Rate limit reached. Try again in 1 s.',
    };
    this.#add('llm', { state: 'error', error }, this.#random.between(60, 140), this.#llmInput());
    this.#nowMs += 1_000;
  }

  #addToolCall({ name, input, output, error }: ToolStep, callId: string): void {
    const status = error === undefined ? { state: 'ok' } : { state: 'error', error };
    const durationMs = error?.code === 'timeout' ? 3_000 : this.#random.between(12, 240);
    this.#add('tool', status, durationMs, { name, callId, input, ...(output !== undefined && { output }) });
    this.#prompt += `Tool ${name}: ${JSON.stringify(output ?? error)}\n`;
  }

  #llmInput() {
    return { model: this.#model, input: { system: systemPrompt, prompt: this.#prompt, tools } };
  }

  #add(type: 'llm' | 'tool', status: object, durationMs: number, payload: object): void {
    const startTimeMs = this.#nowMs;
    this.#nowMs += durationMs;
    const { traceId, context, additionalProperties } = this.#common;
    const origin =
      type === 'llm'
        ? { source: this.#provider, sourcePackage: this.#provider, sourceFunction: 'chat.complete' }
        : { source: 'shop-tools', sourcePackage: 'shop-tools' };
    this.events.push({
      id: this.#random.uuid(),
      type,
      traceId,
      startTimeMs,
      endTimeMs: this.#nowMs,
      durationMs,
      status,
      instrumentation: { vendor: 'weir', ...origin },
      context,
      additionalProperties,
      properties: { [type]: payload },
    });
  }
}

/** An estimate for English: four characters per token. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
