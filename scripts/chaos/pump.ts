import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a way is like at this moment; whoever holds it may change it. */
export interface Conditions {
  /** Set while nothing passes; resolves when something does again. */
  open: PromiseWithResolvers<void> | undefined;
  latencyMs: number;
  bytesPerSecond: number;
}

/** How many bytes are on their way at once before the sender has to wait. */
const underwayBytesMax = 1024 * 1024;

/** A slow line passes its bytes in pieces this far apart. */
const trickleMs = 20;

/**
 * Passes on what one socket receives to another one, in order, under the conditions of the moment, until one of them is
 * closed.
 *
 * @param filter returns what is passed of a chunk; undefined ends the pumping.
 */
export function startPump(
  from: Socket,
  to: Socket,
  conditions: Conditions,
  filter: (chunk: Buffer) => Buffer | undefined,
): void {
  const chunks: { bytes: Buffer; dueMs: number }[] = [];
  let underwayBytes = 0;
  let hasEnded = false;
  let isPumping = false;

  const pump = async () => {
    for (let chunk = chunks.shift(); chunk !== undefined && !to.destroyed; chunk = chunks.shift()) {
      if (chunk.dueMs > performance.now()) await sleep(chunk.dueMs - performance.now());
      await conditions.open?.promise;
      const passed = filter(chunk.bytes);
      if (passed === undefined) return;
      await write(to, passed, conditions);
      underwayBytes -= chunk.bytes.length;
      if (from.isPaused() && underwayBytes < underwayBytesMax) from.resume();
    }
    isPumping = false;
    if (hasEnded && !to.destroyed) to.end();
  };
  const wake = () => {
    if (isPumping) return;
    isPumping = true;
    // A socket that is closed meanwhile has nobody to tell.
    pump().catch(() => {});
  };

  from.on('data', (bytes: Buffer) => {
    chunks.push({ bytes, dueMs: performance.now() + conditions.latencyMs });
    underwayBytes += bytes.length;
    if (underwayBytes >= underwayBytesMax) from.pause();
    wake();
  });
  from.on('end', () => {
    hasEnded = true;
    wake();
  });
}

async function write(to: Socket, bytes: Buffer, conditions: Conditions): Promise<void> {
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
