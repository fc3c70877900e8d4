import { addCounts, keyOfSender, otherSenders, type SenderCounts } from '../../../../store/senders.ts';
import { sendersPerRequestMax } from '../limits.ts';
import type { FilterReason } from '../mapping/role.ts';
import { textOf } from '../spans/attributes.ts';
import type { SpanRequest, SpanSource } from '../spans/span.ts';
import type { SpanCounts } from './span-batch.ts';

/** Longest name of a sender, in characters. Names come from programs. */
const nameCharsMax = 200;

/** Counts what becomes of the spans of a request, in total and for each sender. */
export class SpanTally {
  readonly counts: SpanCounts = { stored: 0, rejected: 0, filtered: {} };
  /** Why the first of the rejected spans cannot be stored. */
  rejection: string | undefined;
  readonly #request: SpanRequest;
  readonly #bySource = new Map<SpanSource | undefined, SenderCounts>();

  constructor(request: SpanRequest) {
    this.#request = request;
  }

  store(index: number): void {
    this.counts.stored += 1;
    this.#senderOf(index).stored += 1;
  }

  filter(index: number, reason: FilterReason): void {
    this.counts.filtered[reason] = (this.counts.filtered[reason] ?? 0) + 1;
    this.#senderOf(index)[reason === 'merged' ? 'merged' : 'leftOut'] += 1;
  }

  reject(index: number, message: string): void {
    this.counts.rejected += 1;
    this.rejection ??= message;
    const sender = this.#senderOf(index);
    sender.refused += 1;
    sender.refusal = message;
  }

  /** Each sender once: sources of one request may differ in other attributes only. */
  senders(): SenderCounts[] {
    const byKey = new Map<string, SenderCounts>();
    for (const counts of this.#bySource.values()) {
      const key = keyOfSender(counts);
      const known = byKey.get(key);
      if (known === undefined) byKey.set(key, counts);
      else addCounts(known, counts);
    }
    return [...byKey.values()];
  }

  #senderOf(index: number): SenderCounts {
    const source = this.#readSource(index);
    const known = this.#bySource.get(source);
    if (known !== undefined) return known;
    const isFull = this.#bySource.size >= sendersPerRequestMax;
    const made = { ...describe(isFull ? undefined : source), stored: 0, merged: 0, leftOut: 0, refused: 0 };
    // All further sources share the counts of `undefined`.
    const key = isFull ? undefined : source;
    const counts = this.#bySource.get(key) ?? made;
    this.#bySource.set(key, counts);
    return counts;
  }

  #readSource(index: number): SpanSource | undefined {
    try {
      return this.#request.readSource(index);
    } catch {
      // The span is rejected for this reason already.
      return undefined;
    }
  }
}

function describe(
  source: SpanSource | undefined,
): Pick<SenderCounts, 'service' | 'scope' | 'version' | 'sdk'> {
  if (source === undefined) return otherSenders;
  const { attributes } = source.resource;
  const sdk = ['telemetry.sdk.language', 'telemetry.sdk.name', 'telemetry.sdk.version'];
  return {
    service: storable(textOf(attributes, 'service.name') ?? ''),
    scope: storable(source.scope.name),
    version: storable(source.scope.version),
    sdk: storable(sdk.flatMap((name) => textOf(attributes, name) ?? []).join(' ')),
  };
}

/** Postgres stores no NUL and no half of a surrogate pair. */
function storable(text: string): string {
  return text.slice(0, nameCharsMax).replaceAll('\0', '').toWellFormed();
}
