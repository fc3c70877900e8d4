import type { LlmUsage } from '../event/event.ts';

/** The counts of a provider. `input` and `output` are totals; the details are parts of them. */
export interface TokenCounts {
  input: unknown;
  cacheRead?: unknown;
  cacheWrite?: unknown;
  output: unknown;
  reasoning?: unknown;
  total?: unknown;
}

/** Token counts in the fields of docs/api.md §2.6. Counts that the provider does not report are omitted. */
export function composeUsage(counts: TokenCounts): LlmUsage | undefined {
  const [input, output] = [asCount(counts.input), asCount(counts.output)];
  const [read, write] = [asCount(counts.cacheRead), asCount(counts.cacheWrite)];
  const reasoning = asCount(counts.reasoning);
  if (input === undefined && output === undefined) return undefined;
  const total = asCount(counts.total) ?? (input ?? 0) + (output ?? 0);
  const usage: LlmUsage = { totalTokens: total };
  if (input !== undefined) {
    usage.inputTokens = input;
    if (read !== undefined || write !== undefined) {
      const cached = { cacheReadTokens: read ?? 0, cacheWriteTokens: write ?? 0 };
      const uncachedTokens = Math.max(0, input - cached.cacheReadTokens - cached.cacheWriteTokens);
      usage.inputTokenDetails = { uncachedTokens, ...cached };
    }
  }
  if (output !== undefined) {
    usage.outputTokens = output;
    if (reasoning !== undefined) {
      usage.outputTokenDetails = {
        reasoningTokens: reasoning,
        responseTokens: Math.max(0, output - reasoning),
      };
    }
  }
  return usage;
}

function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
