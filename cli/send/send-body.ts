import { type Body, splitBody } from '../client/body.ts';
import type { Post } from '../client/ingest-client.ts';
import { isTransient, type SendError, sendWithRetry } from '../client/send-with-retry.ts';
import type { Progress } from './progress.ts';
import type { Tally } from './send-summary.ts';

export interface SendBodyOptions {
  post: Post;
  tally: Tally;
  progress: Progress;
  retryForMs: number;
  onResponse: (durationMs: number) => void;
}

/** A request failed beyond its retries, and not because of its events: the rest of the file would, too. */
export class NotAcceptedError extends Error {
  readonly reason: SendError;

  constructor(reason: SendError) {
    super(reason.details);
    this.reason = reason;
  }
}

/**
 * Sends a body, and counts the outcome of its events. Ingest accepts or rejects a whole body: one that is
 * rejected for its events is sent again by halves until only invalid ones are rejected, each with its line. n
 * events take fewer than 2n requests, without retries.
 * @throws NotAcceptedError
 */
export async function sendBody(body: Body, options: SendBodyOptions): Promise<void> {
  const { post, tally } = options;
  const { error, attempts } = await sendWithRetry(post, body.bytes, retriesOf(options));
  tally.addRequests(attempts);
  if (error !== undefined && isTransient(error.status)) throw new NotAcceptedError(error);
  if (error === undefined) tally.addAccepted(body.events.length);
  else if (!blamesEvents(error)) tally.addRejected(error, body.events.length);
  else if (body.events.length > 1) for (const half of splitBody(body)) await sendBody(half, options);
  else for (const { line } of body.events) tally.addRejected(nameLine(error, line), 1);
}

export function retriesOf({ retryForMs, progress, onResponse }: Omit<SendBodyOptions, 'post' | 'tally'>) {
  return {
    retryForMs,
    onResponse,
    onRetry: ({ status, details }: SendError) =>
      progress.warn(`${status ?? 'No answer'} (${details}): retrying for up to ${retryForMs / 1_000} s.`),
  };
}

/** Whether some events may be accepted without the others. A 413 may come from a proxy with a lower limit. */
function blamesEvents({ status, id }: SendError): boolean {
  return (
    status === 413 || (status === 400 && (id === 'invalid_request_body' || id === 'invalid_event_batch'))
  );
}

/** The error of a body of one event, with the event's line in the file instead of its index in the body. */
function nameLine(error: SendError, line: number): SendError {
  return { ...error, details: `Line ${line}: ${error.details.replace(/^events\[0\]\./, '')}` };
}
