import type { Browser, Page } from 'playwright-core';
import type { Connection } from '../../../launcher/local-system.ts';

/** The dependencies of a measurement: a browser, and the system with its space. */
export interface WebBench {
  browser: Browser;
  connection: Connection;
}

/**
 * Longest wait of a measurement, in milliseconds, so that a page that never shows the expected element fails.
 */
export const waitMaxMs = 60_000;

/** Runs a function with a page of a signed-in browser context that has an empty cache. */
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
