import type { Json } from '../../../../../event/json/json-value.ts';
import type { Attributes } from '../../spans/attributes.ts';
import { membersOf, objectIn } from '../json-object.ts';
import { countsIn } from './usage-objects.ts';
import type { Counts } from './usage-rows.ts';

/** A call of another model that Anthropic made within a call: that of an advisor. */
export interface InnerCall {
  readonly model: string;
  readonly counts: Counts;
}

/** Where senders have Anthropic's usage, or a response or metadata with it. */
const holders = ['gen_ai.usage.raw', 'ai.response.providerMetadata', 'output.value'];

/**
 * The calls within the call of a span. The counts of the span have none of their tokens, which have prices of
 * their own.
 */
export function readInnerCalls(attributes: Attributes): readonly InnerCall[] {
  for (const holder of holders) {
    const value = attributes.get(holder);
    // Most values are the text of a response, which is not worth parsing once more.
    if (value === undefined || (typeof value === 'string' && !value.includes('advisor_message'))) continue;
    const json = objectIn(value);
    const metadata = json?.anthropic ?? json;
    const iterations = iterationsIn(membersOf(metadata).usage ?? metadata, 'advisor_message');
    const calls = iterations.flatMap((one): InnerCall[] => {
      const model = membersOf(one).model;
      const counts = countsIn(one);
      return typeof model === 'string' && model !== '' && counts !== undefined ? [{ model, counts }] : [];
    });
    if (calls.length > 0) return calls;
  }
  return [];
}

/**
 * Adds what the compactions of a call took. Anthropic's own totals do not have it, those of some senders do:
 * then their output is not that of the provider.
 * @param usage the provider's own, if the sender has it.
 */
export function addCompactions(counts: Counts, usage: Json | undefined): void {
  const sent = objectIn(usage);
  const compactions = iterationsIn(sent, 'compaction').flatMap((one) => countsIn(one) ?? []);
  const own = countsIn(sent);
  if (compactions.length === 0 || own === undefined || counts.output !== own.output) return;
  for (const compaction of compactions) {
    for (const name of added) {
      const count = compaction[name] ?? 0;
      if (count > 0) counts[name] = (counts[name] ?? 0) + count;
    }
    if (counts.total !== undefined) counts.total += (compaction.input ?? 0) + (compaction.output ?? 0);
  }
}

const added = ['input', 'cacheRead', 'cacheWrite', 'cacheWriteHour', 'output'] as const;

function iterationsIn(usage: Json | undefined, type: string): readonly Json[] {
  const iterations = membersOf(usage).iterations;
  return Array.isArray(iterations) ? iterations.filter((one) => membersOf(one).type === type) : [];
}
