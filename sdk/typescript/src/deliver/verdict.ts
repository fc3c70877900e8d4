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
  | { kind: 'pause'; reason: PauseReason; resetMs: number | undefined; cause: string };

export type PauseReason = Extract<DropReason, 'unauthorized' | 'quota' | 'refused'>;

export function judge(answer: Answer): Verdict {
  const { status } = answer;
  switch (status) {
    case 202:
      return { kind: 'accepted' };
    case 400:
      return { kind: 'bad_event', index: indexOf(answer.details) };
    case 401:
      return { kind: 'pause', reason: 'unauthorized', resetMs: undefined, cause: causeOf(answer) };
    case 402:
      return { kind: 'pause', reason: 'quota', resetMs: answer.quotaResetMs, cause: causeOf(answer) };
    case 413:
      return { kind: 'too_large' };
    case 408:
    case 429:
      return retryAfter(answer);
  }
  if (status >= 500) return retryAfter(answer);
  // Any other 2xx comes from a proxy, such as a captive portal: the events are not stored. Retry later.
  if (status >= 200 && status < 300) return retryAfter(answer);
  return { kind: 'pause', reason: 'refused', resetMs: undefined, cause: causeOf(answer) };
}

function retryAfter(answer: Answer): Verdict {
  const afterMs = Math.min(answer.retryAfterMs ?? 0, retryAfterMaxMs);
  return { kind: 'retry', afterMs, cause: causeOf(answer) };
}

function causeOf({ status, details }: Answer): string {
  return details === '' ? `status ${status}` : `status ${status}: ${details}`;
}

/** `events[17].durationMs must be a number (and 3 more)` → 17. */
function indexOf(details: string): number | undefined {
  const match = /\bevents\[(\d+)\]/.exec(details);
  return match ? Number(match[1]) : undefined;
}
