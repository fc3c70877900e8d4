import { describeError } from '../event/error-details.ts';
import { isolateRoundsMax } from '../limits.ts';
import type { Counters } from '../queue/counters.ts';
import type { QueuedEvent } from '../queue/queue.ts';
import { callSafely } from '../runtime/callback.ts';
import type { Answer, Post } from './post.ts';
import type { Receipt } from './receipt.ts';
import { judge, type Verdict } from './verdict.ts';

export interface DeliveryDependencies {
  post: Post;
  counters: Counters;
  onAccepted: ((receipt: Receipt) => void) | undefined;
}

export type Outcome = { kind: 'done' } | Extract<Verdict, { kind: 'retry' | 'pause' }>;

/**
 * Sends a batch, and repeats it without the events that Weir rejects. Removes settled events from `events`;
 * the remaining ones can be sent again with the same ids and bytes.
 */
export async function deliverBatch(
  dependencies: DeliveryDependencies,
  events: QueuedEvent[],
  isUrgent = false,
): Promise<Outcome> {
  for (let round = 0; events.length > 0; round++) {
    const { answer, verdict } = await postSafely(dependencies.post, events, isUrgent);
    switch (verdict.kind) {
      case 'retry':
      case 'pause':
        return verdict;
      case 'accepted':
        settleAccepted(dependencies, events.splice(0), answer?.batchId);
        break;
      case 'too_large':
        if (events.length > 1) return deliverHalves(dependencies, events);
        dependencies.counters.drop('too_large', events.splice(0).length, answer?.details);
        break;
      case 'bad_event': {
        // The 400 names no event: the body was damaged in transit, or a proxy rejects it. Only a proxy
        // rejects it again.
        if (verdict.index === undefined && events.length === 1 && round < isolateRoundsMax - 1) break;
        const index = events.length === 1 ? 0 : verdict.index;
        const isNamed = index !== undefined && index < events.length;
        if (!isNamed || round >= isolateRoundsMax) return deliverHalves(dependencies, events);
        dependencies.counters.drop('rejected', events.splice(index, 1).length, answer?.details);
      }
    }
  }
  return { kind: 'done' };
}

async function deliverHalves(dependencies: DeliveryDependencies, events: QueuedEvent[]): Promise<Outcome> {
  const second = events.splice(Math.ceil(events.length / 2));
  const outcome = await deliverBatch(dependencies, events);
  if (outcome.kind !== 'done') {
    events.push(...second);
    return outcome;
  }
  const last = await deliverBatch(dependencies, second);
  events.push(...second);
  return last;
}

/**
 * Sends events, or an empty batch to find out whether events are accepted without risking any. Never rejects.
 */
export async function postSafely(
  post: Post,
  events: readonly QueuedEvent[],
  isUrgent = false,
): Promise<{ answer?: Answer; verdict: Verdict }> {
  try {
    const answer = await post(composeBody(events), isUrgent);
    return { answer, verdict: judge(answer) };
  } catch (error) {
    // The network failed, or the request timed out. The batch may be stored: with the same ids it is safe to
    // resend.
    const { code, message } = describeError(error);
    return { verdict: { kind: 'retry', afterMs: 0, cause: String(code ?? message) } };
  }
}

function settleAccepted(
  { counters, onAccepted }: DeliveryDependencies,
  events: readonly QueuedEvent[],
  batchId: string | undefined,
): void {
  counters.accepted += events.length;
  callSafely(() => onAccepted?.({ eventIds: events.map(({ id }) => id), batchId }));
}

const encoder = new TextEncoder();
const [head, comma, tail] = [encoder.encode('{"events":['), encoder.encode(','), encoder.encode(']}')];

/** The request body of a batch (docs/api.md §2.1). */
function composeBody(events: readonly QueuedEvent[]): Uint8Array<ArrayBuffer> {
  const members = events.flatMap(({ bytes }, index) => (index > 0 ? [comma, bytes] : [bytes]));
  const parts = [head, ...members, tail];
  const body = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}
