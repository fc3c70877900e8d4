import type { Browser, Page } from 'playwright-core';
import type { Connection } from '../../../lib/local-system.ts';

/** What a measurement works with: a browser, and the system with its space. */
export interface WebBench {
  browser: Browser;
  connection: Connection;
}

/** No wait of a measurement is longer, in milliseconds: a page that never shows what is waited for is an error, not a hang. */
export const waitMaxMs = 60_000;

/** Runs something in a window without anything in its cache, signed in. */
export async function inWindow<Result>(
  { browser, connection: { dashboardUrl, email, password } }: WebBench,
  run: (page: Page) => Promise<Result>,
): Promise<Result> {
  const context = await browser.newContext({
    baseURL: dashboardUrl,
    viewport: { width: 1_440, height: 900 },
  });
  context.setDefaultTimeout(waitMaxMs);
  try {
    const answer = await context.request.post('/trpc/auth.signIn', { data: { email, password } });
    if (!answer.ok()) throw new Error(`signing in failed: ${await answer.text()}`);
    return await run(await context.newPage());
  } finally {
    await context.close();
  }
}
