import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The current state of a network link. Its owner changes it; running relays read it for each chunk. */
export interface LinkConditions {
  /** Set while nothing is forwarded; resolves when forwarding continues. */
  open: PromiseWithResolvers<void> | undefined;
  latencyMs: number;
  bytesPerSecond: number;
}

/** The bytes in flight after which the sender is paused. */
const inFlightBytesMax = 1024 * 1024;

/** The interval between two writes when the bandwidth is limited. */
const trickleMs = 20;

/**
 * Forwards the bytes of one socket to another, in order, under the current conditions, until one of them is
 * closed.
 *
 * @param filter returns the part of a chunk to forward; undefined ends the relay.
 */
export function startRelay(
  from: Socket,
  to: Socket,
  conditions: LinkConditions,
  filter: (chunk: Buffer) => Buffer | undefined,
): void {
  const chunks: { bytes: Buffer; dueMs: number }[] = [];
  let inFlightBytes = 0;
  let hasEnded = false;
  let isRelaying = false;

  const relay = async () => {
    for (let chunk = chunks.shift(); chunk !== undefined && !to.destroyed; chunk = chunks.shift()) {
      if (chunk.dueMs > performance.now()) await sleep(chunk.dueMs - performance.now());
      await conditions.open?.promise;
      const forwarded = filter(chunk.bytes);
      if (forwarded === undefined) return;
      await write(to, forwarded, conditions);
      inFlightBytes -= chunk.bytes.length;
      if (from.isPaused() && inFlightBytes < inFlightBytesMax) from.resume();
    }
    isRelaying = false;
    if (hasEnded && !to.destroyed) to.end();
  };
  const wake = () => {
    if (isRelaying) return;
    isRelaying = true;
    // A write to a socket that was closed in the meantime fails; its connection is already gone.
    relay().catch(() => {});
  };

  from.on('data', (bytes: Buffer) => {
    chunks.push({ bytes, dueMs: performance.now() + conditions.latencyMs });
    inFlightBytes += bytes.length;
    if (inFlightBytes >= inFlightBytesMax) from.pause();
    wake();
  });
  from.on('end', () => {
    hasEnded = true;
    wake();
  });
}

async function write(to: Socket, bytes: Buffer, conditions: LinkConditions): Promise<void> {
  for (let start = 0; start < bytes.length && !to.destroyed; ) {
    const { bytesPerSecond } = conditions;
    const isSlow = Number.isFinite(bytesPerSecond);
    const end = isSlow ? start + Math.max(1, Math.floor((bytesPerSecond * trickleMs) / 1_000)) : bytes.length;
    const piece = bytes.subarray(start, end);
    if (!to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
    start += piece.length;
    if (isSlow) await sleep(trickleMs);
  }
}
