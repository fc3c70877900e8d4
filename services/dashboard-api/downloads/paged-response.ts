import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface PagedResponse {
  response: ServerResponse;
  /** The body. The next page is read when the client has taken the one before. */
  pages: AsyncIterable<string>;
  /** Called before each page. @throws when the user may not have it any more. */
  checkAccess: () => Promise<void>;
  /** How long the client may take for a page. */
  pageMsMax: number;
}

/**
 * Sends a body that is made as fast as the client takes it. The connection breaks, so that a part is not taken for all, when a page
 * fails, when its check fails, and when the client takes too long for a page.
 */
export async function sendPages({ response, pages, checkAccess, pageMsMax }: PagedResponse): Promise<void> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), pageMsMax);
  async function* checked(): AsyncGenerator<string> {
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
