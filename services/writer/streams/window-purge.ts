import type { StreamState } from '../../../lib/queue-state/stream-state.ts';
import { windowBytesShare, windowPurgeShare } from '../limits.ts';

/**
 * The first sequence to keep. A message that is not stored is always kept. Of the stored ones, those go that are older than the window,
 * and the oldest ones above half of the bytes, so that there is room for what comes.
 *
 * @param expiredUpTo the sequence up to which messages are older than the window.
 * @param bytesMax most bytes of the window; at most half of the stream's bytes are used in any case.
 */
export function findFirstKept(
  { firstSequence, storedUpTo, messages, bytes, bytesMax: streamBytesMax }: StreamState,
  { expiredUpTo, bytesMax }: { expiredUpTo: number; bytesMax: number },
): number {
  const limit = Math.min(bytesMax, streamBytesMax * windowBytesShare);
  // The sizes of single messages are not known: it comes close, and the next look corrects it.
  const excess = bytes > limit ? Math.ceil(messages * (1 - (limit * windowPurgeShare) / bytes)) : 0;
  const wanted = Math.max(expiredUpTo + 1, firstSequence + excess);
  return Math.max(firstSequence, Math.min(wanted, storedUpTo + 1));
}
