import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface PagedResponse {
  response: ServerResponse;
  /** The next page is read after the client has consumed the previous one. */
  pages: AsyncIterable<string | Buffer>;
  /** Called before each page. @throws when the user has lost access. */
  checkAccess: () => Promise<void>;
  /** Milliseconds that the client may take for a page. */
  pageMsMax: number;
}

const closeListenersMax = 20;

/**
 * Sends pages as they are consumed. A failure or a slow client resets the connection: no partial body ends
 * well.
 */
export async function sendPages({ response, pages, checkAccess, pageMsMax }: PagedResponse): Promise<void> {
  // Node would warn of a leak: the pipeline adds to the listeners of the log and the limits.
  response.setMaxListeners(closeListenersMax);
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), pageMsMax);
  async function* checked(): AsyncGenerator<string | Buffer> {
    for await (const page of pages) {
      await checkAccess();
      timer.refresh();
      yield page;
    }
    timer.refresh();
  }
  try {
    await pipeline(Readable.from(checked()), response, { signal: stalled.signal });
  } finally {
    clearTimeout(timer);
    if (stalled.signal.aborted) response.destroy();
  }
}
