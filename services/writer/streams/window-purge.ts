import type { StreamState } from '../../../store/queue-state/stream-state.ts';
import {
  queueBytesPerSecondMax,
  windowBytesShare,
  windowPollMsMax,
  windowPollMsMin,
  windowPurgeShare,
} from '../limits.ts';

/**
 * Keeps what is not stored. Of the rest go messages older than the window, and the oldest ones above half of
 * the bytes, to make room.
 * @param expiredUpTo the sequence up to which messages are older than the window.
 * @param bytesMax of the window; never more than half of the stream's bytes.
 */
export function findRemoval(
  { firstSequence, storedUpTo, messages, bytes, bytesMax: streamBytesMax }: StreamState,
  { expiredUpTo, bytesMax }: { expiredUpTo: number; bytesMax: number },
) {
  const limit = Math.min(bytesMax, streamBytesMax * windowBytesShare);
  // The sizes of single messages are not known: it comes close, and the next poll corrects it.
  const excess = bytes > limit ? Math.ceil(messages * (1 - (limit * windowPurgeShare) / bytes)) : 0;
  const wanted = Math.max(expiredUpTo + 1, firstSequence + excess);
  return {
    /** The first sequence to keep. */
    firstKept: Math.max(firstSequence, Math.min(wanted, storedUpTo + 1)),
    /**
     * The window has its bytes even without all messages before the oldest waiting one. Then messages are
     * removed as soon as they are stored: one that waits for long would keep all later ones until the stream
     * is full.
     */
    isCrowded: firstSequence + excess > storedUpTo + 1,
  };
}

/** The time in which nothing can fill the half of the stream that the window leaves free. */
export function pollAfterMs({ bytesMax }: StreamState): number {
  const fillMs = (1_000 * bytesMax * (1 - windowBytesShare)) / queueBytesPerSecondMax;
  return Math.min(windowPollMsMax, Math.max(windowPollMsMin, fillMs));
}
