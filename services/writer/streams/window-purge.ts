import type { StreamState } from '../../../store/queue-state/stream-state.ts';
import {
  queueBytesPerSecondMax,
  windowBytesShare,
  windowPollMsMax,
  windowPollMsMin,
  windowPurgeShare,
} from '../limits.ts';

/** What to remove from a stream now. */
export interface Removal {
  /** The first sequence to keep. */
  readonly firstKept: number;
  /**
   * Whether the window has its bytes although everything in front of the oldest waiting message goes. Then a
   * message is removed as soon as it is stored: one that waits for long would otherwise keep all later ones,
   * until the stream is full.
   */
  readonly isCrowded: boolean;
}

/**
 * A message that is not stored is always kept. Of the stored ones, those go that are older than the window,
 * and the oldest ones above half of the bytes, so that there is room for what comes.
 *
 * @param expiredUpTo the sequence up to which messages are older than the window.
 * @param bytesMax most bytes of the window; at most half of the stream's bytes are used in any case.
 */
export function findRemoval(
  { firstSequence, storedUpTo, messages, bytes, bytesMax: streamBytesMax }: StreamState,
  { expiredUpTo, bytesMax }: { expiredUpTo: number; bytesMax: number },
): Removal {
  const limit = Math.min(bytesMax, streamBytesMax * windowBytesShare);
  // The sizes of single messages are not known: it comes close, and the next look corrects it.
  const excess = bytes > limit ? Math.ceil(messages * (1 - (limit * windowPurgeShare) / bytes)) : 0;
  const wanted = Math.max(expiredUpTo + 1, firstSequence + excess);
  return {
    firstKept: Math.max(firstSequence, Math.min(wanted, storedUpTo + 1)),
    isCrowded: firstSequence + excess > storedUpTo + 1,
  };
}

/** The time in which nothing can fill the half of the stream that the window leaves free. */
export function pollAfterMs({ bytesMax }: StreamState): number {
  const fillMs = (1_000 * bytesMax * (1 - windowBytesShare)) / queueBytesPerSecondMax;
  return Math.min(windowPollMsMax, Math.max(windowPollMsMin, fillMs));
}
