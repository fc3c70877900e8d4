import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { llmEvent } from '../../harness/fixtures/events.ts';
import type { EventsSubject } from '../../operations/erasure/subject.ts';

/** An event of a random request. Few ids, users, threads and times, so that requests overlap. */
export interface RandomEvent {
  readonly id: number;
  /** Repeats the earlier text of this id, if there is one; otherwise another text with the same id. */
  readonly isCopy: boolean;
  readonly user: number;
  readonly thread: number;
  readonly second: number;
  /** Postgres rejects it. */
  readonly isPoison: boolean;
  /** So large that a request with several is split into messages. */
  readonly isLarge: boolean;
}

export const randomRequest = fc.array(
  fc.record({
    id: fc.nat({ max: 9 }),
    isCopy: fc.boolean(),
    user: fc.nat({ max: 2 }),
    thread: fc.nat({ max: 2 }),
    second: fc.integer({ min: 1, max: 4 }),
    isPoison: fc.nat({ max: 9 }).map((n) => n === 0),
    isLarge: fc.nat({ max: 3 }).map((n) => n === 0),
  }),
  { minLength: 1, maxLength: 5 },
);
export const randomRequests = fc.array(randomRequest, { minLength: 1, maxLength: 4 });

export const randomSubject: fc.Arbitrary<EventsSubject> = fc.oneof(
  fc.nat({ max: 2 }).map((n): EventsSubject => ({ kind: 'user', value: `user-${n}` })),
  fc.nat({ max: 2 }).map((n): EventsSubject => ({ kind: 'thread', value: `thread-${n}` })),
  fc.integer({ min: 2, max: 3 }).map((n): EventsSubject => ({ kind: 'before', timeMs: n * 1_000 })),
);

/** A sent text. It contains a unique word. */
export class SentText {
  readonly word = `w${randomBytes(8).toString('hex')}`;
  readonly event: Record<string, unknown>;
  readonly #random: RandomEvent;

  constructor(id: string, random: RandomEvent) {
    const { user, thread, second, isPoison, isLarge } = random;
    this.#random = random;
    this.event = llmEvent({
      id,
      startTimeMs: second * 1_000,
      context: { userId: `user-${user}`, threadId: `thread-${thread}` },
      additionalProperties: { word: this.word },
      properties: {
        llm: {
          model: isPoison ? 'poison' : 'm',
          input: { prompt: isLarge ? randomBytes(40_000).toString('base64') : this.word },
        },
      },
    });
  }

  get id(): string {
    return String(this.event.id);
  }

  isOf(subject: EventsSubject): boolean {
    const { user, thread, second } = this.#random;
    if (subject.kind === 'before') return second * 1_000 < subject.timeMs;
    return subject.value === (subject.kind === 'user' ? `user-${user}` : `thread-${thread}`);
  }
}
