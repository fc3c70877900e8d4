import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface VisitorOptions {
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
}

/** A browser context with separate cookies and storage. */
export interface Visitor extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /**
   * Errors that pages reported so far: exceptions, console errors, and violations of the
   * Content-Security-Policy.
   */
  errors: string[];
}

/** Console errors that every browser logs for a failed request. Tests that expect one allow it. */
const requestFailed = /^Failed to load resource/;

/** Opens a window. Disposing it fails when a page reported an error. */
export async function openVisitor(
  browser: Browser,
  baseURL: string,
  { theme = 'light', width = 1_280, height = 800 }: VisitorOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    baseURL,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Zurich',
    locale: 'en-GB',
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const errors: string[] = [];
  await context.exposeFunction('reportViolation', (text: string) => void errors.push(text));
  // Passed as a string: this file is type-checked without DOM types.
  await context.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    globalThis.reportViolation('CSP ' + event.violatedDirective + ': ' + event.blockedURI + ' in ' + event.sourceFile));`);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => void errors.push(error.stack ?? error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !requestFailed.test(message.text())) errors.push(message.text());
  });
  return {
    page,
    context,
    errors,
    async [Symbol.asyncDispose]() {
      await context.close();
      if (errors.length > 0) throw new Error(`The pages reported errors:\n${errors.join('\n')}`);
    },
  };
}
