import { type Body, splitBody } from '../lib/client/body.ts';
import { type DeliveryError, deliver } from '../lib/client/deliver.ts';
import type { Post } from '../lib/client/post.ts';
import { sendRetryForMs } from '../lib/limits.ts';
import type { Progress } from './progress.ts';
import type { Tally } from './send-summary.ts';

export interface SendBodyOptions {
  post: Post;
  tally: Tally;
  progress: Progress;
  /** Called with how long each answered request took. */
  onAnswer: (durationMs: number) => void;
}

/**
 * Sends a body, and counts what becomes of its events. Ingest takes or refuses a body as a whole: one that is refused
 * for its events is sent again in two halves, and so on, until only bad events are refused, each by its line. A body of
 * n events takes less than 2n requests, retries aside.
 */
export async function sendBody(body: Body, options: SendBodyOptions): Promise<void> {
  const { post, tally, progress, onAnswer } = options;
  const { error, attempts } = await deliver(post, body.bytes, {
    retryForMs: sendRetryForMs,
    onAnswer,
    onRetry: ({ status, details }) => {
      progress.warn(
        `${status ?? 'No answer'} (${details}): trying again for up to ${sendRetryForMs / 1_000} s.`,
      );
    },
  });
  tally.addRequests(attempts);
  if (error === undefined) tally.addAccepted(body.events.length);
  else if (!blamesEvents(error)) tally.addRejected(error, body.events.length);
  else if (body.events.length > 1) for (const half of splitBody(body)) await sendBody(half, options);
  else for (const { line } of body.events) tally.addRejected(nameLine(error, line), 1);
}

/** Whether fewer events may be accepted where these were not. A 413 need not be ingest's: proxies have limits too. */
function blamesEvents({ status, id }: DeliveryError): boolean {
  return (
    status === 413 || (status === 400 && (id === 'invalid_request_body' || id === 'invalid_event_batch'))
  );
}

/** The error of a body of one event, as the file's owner sees it: by its line, not by its place in the body. */
function nameLine(error: DeliveryError, line: number): DeliveryError {
  return { ...error, details: `Line ${line}: ${error.details.replace(/^events\[0\]\./, '')}` };
}
