import type { JetStreamManager } from '@nats-io/jetstream';
import { startLoop } from '../../../platform/background-loop.ts';
import type { Logger } from '../../../platform/log.ts';
import type { QueueStream } from '../../../platform/queue/settings.ts';
import { findIfExists, findOrAddConsumer } from '../../../platform/queue/stream.ts';
import type { Database } from '../../../store/db/database.ts';
import { recordStoredPosition } from '../../../store/queue-state/stored-positions.ts';
import { readStreamState, type StreamState } from '../../../store/queue-state/stream-state.ts';
import type { WindowLimits } from '../../../store/queue-state/window-limits.ts';
import type { Delivered } from '../delivered.ts';
import { storedPositionMs, windowPollMsMax } from '../limits.ts';
import { WindowMarks } from './window-marks.ts';
import { findRemoval, pollAfterMs } from './window-purge.ts';

export interface WindowDependencies {
  manager: JetStreamManager;
  database: Database;
  stream: QueueStream;
  limits: WindowLimits;
  log: Logger;
}

/**
 * Purges stored messages that left the replay window, and records how far the stream is stored (ADR 31).
 * Every writer does, since a repeated purge changes nothing: no lock may be out of reach when the queue fills
 * because Postgres is down.
 */
export function keepWindow(dependencies: WindowDependencies) {
  const { stream, log } = dependencies;
  const purger = new Purger(dependencies);
  const failure = `the replay window of ${stream.name} was not purged; trying again`;
  const loop = startLoop(
    { run: () => purger.poll(), intervalMs: (pauseMs) => pauseMs, retryMs: windowPollMsMax, failure },
    log,
  );
  return {
    /** Acknowledging the message also removes it while the window has no room. */
    watch: (message: Delivered): Delivered => ({ ...message, ack: () => purger.acknowledge(message) }),
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

class Purger {
  readonly #dependencies: WindowDependencies;
  #marks: WindowMarks | undefined;
  #isCrowded = false;
  /** The stream's creation: another one of the same name has other sequences. */
  #createdAtMs = 0;
  #keptPosition = -1;
  #keptAtMs = Number.NEGATIVE_INFINITY;

  constructor(dependencies: WindowDependencies) {
    this.#dependencies = dependencies;
  }

  /** @returns the time until the next poll. */
  async poll(): Promise<number> {
    const { manager, stream, limits, log } = this.#dependencies;
    const state = await readStreamState(manager, stream);
    if (state === undefined) return windowPollMsMax;
    // An interrupted replay has deleted the consumer: a new one begins at the first message that is kept.
    if (!state.hasConsumer) await findOrAddConsumer(manager, stream);
    await this.#keepPosition(state);
    const expiredUpTo =
      limits.windowMs === 0 ? state.storedUpTo : await this.#findExpired(state, performance.now());
    const { firstKept, isCrowded } = findRemoval(state, { expiredUpTo, bytesMax: limits.bytesMax });
    this.#isCrowded = isCrowded;
    if (firstKept <= state.firstSequence) return pollAfterMs(state);
    const { purged } = await manager.streams.purge(stream.name, { seq: firstKept });
    log.debug({ stream: stream.name, firstKept, purged }, 'stored messages purged from the queue');
    return pollAfterMs(state);
  }

  acknowledge(message: Delivered): void {
    const { manager, stream } = this.#dependencies;
    message.ack();
    // When it fails, the purge removes the message later.
    if (this.#isCrowded)
      manager.streams.deleteMessage(stream.name, message.position.sequence, false).catch(() => {});
  }

  async #findExpired(state: StreamState, atMs: number): Promise<number> {
    const { manager, stream, limits } = this.#dependencies;
    const { firstSequence, lastSequence, createdAt } = state;
    const firstAtMs = state.firstAt?.getTime();
    if (this.#marks === undefined || this.#createdAtMs !== createdAt.getTime()) {
      const nowMs = Math.min(state.nowMs, Date.now());
      this.#marks = new WindowMarks({ windowMs: limits.windowMs, nowMs, firstAtMs, lastSequence, atMs });
      this.#createdAtMs = createdAt.getTime();
    }
    this.#marks.note(lastSequence, atMs);
    const unknown = firstAtMs && this.#marks.findUnknown(firstSequence, firstAtMs, atMs);
    if (unknown) {
      const query = { seq: unknown, next_by_subj: stream.subject };
      const message = await findIfExists(() => manager.streams.getMessage(stream.name, query));
      if (message != null)
        this.#marks.learn({ sequence: message.seq, acceptedAtMs: message.time.getTime(), firstAtMs });
    }
    return this.#marks.expiredUpTo(atMs);
  }

  async #keepPosition(state: StreamState): Promise<void> {
    const { database, limits } = this.#dependencies;
    const nowMs = performance.now();
    if (state.storedUpTo === this.#keptPosition || nowMs - this.#keptAtMs < storedPositionMs) return;
    this.#keptAtMs = nowMs;
    // Postgres may be down: that must not keep the queue from being purged.
    await recordStoredPosition(database, state, limits.windowMs).then(
      () => {
        this.#keptPosition = state.storedUpTo;
      },
      () => {},
    );
  }
}
