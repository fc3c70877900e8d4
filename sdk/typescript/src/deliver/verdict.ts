import { retryAfterMaxMs } from '../limits.ts';
import type { DropReason } from '../queue/counters.ts';
import type { Answer } from './post.ts';

/** How to proceed after a response, by the retry rules (docs/api.md §7.1). */
export type Verdict =
  | { kind: 'accepted' }
  /** An event is invalid; `index` is the first such event, if the response names it. */
  | { kind: 'bad_event'; index: number | undefined }
  | { kind: 'too_large' }
  | { kind: 'retry'; afterMs: number; cause: string }
  /** No request will be accepted until something changes elsewhere. */
  | { kind: 'pause'; reason: PauseReason; resetMs?: number | undefined; cause: string };

export type PauseReason = Extract<DropReason, 'unauthorized' | 'quota' | 'refused'>;

export function judge({ status, details, retryAfterMs = 0, quotaResetMs }: Answer): Verdict {
  const cause = details === '' ? `status ${status}` : `status ${status}: ${details}`;
  const pause = (reason: PauseReason, resetMs?: number): Verdict => ({
    kind: 'pause',
    reason,
    resetMs,
    cause,
  });
  switch (status) {
    case 202:
      return { kind: 'accepted' };
    case 400:
      return { kind: 'bad_event', index: indexOf(details) };
    case 401:
      return pause('unauthorized');
    case 402:
      return pause('quota', quotaResetMs);
    case 413:
      return { kind: 'too_large' };
  }
  // Any other 2xx comes from a proxy, such as a captive portal: the events are not stored. Retry later.
  const isPassing = status === 408 || status === 429 || status >= 500 || (status >= 200 && status < 300);
  return isPassing
    ? { kind: 'retry', afterMs: Math.min(retryAfterMs, retryAfterMaxMs), cause }
    : pause('refused');
}

/** `events[17].durationMs must be a number (and 3 more)` → 17. */
function indexOf(details: string): number | undefined {
  const match = /\bevents\[(\d+)\]/.exec(details);
  return match ? Number(match[1]) : undefined;
}
