import type { Locator, Page } from 'playwright-core';

/** Tasks of a page that blocked it for longer than 50 ms, which is where the browser begins to report them. */
const observeTasks = `globalThis.longTasks = [];
new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
  .observe({ type: 'longtask', buffered: true });`;

/** Resolves to the time of the frame after the one in which something is in the page. */
const shown = (selector: string) => `new Promise((resolve) => {
  const look = () => requestAnimationFrame(() =>
    document.querySelector(${JSON.stringify(selector)}) === null
      ? look()
      : requestAnimationFrame(() => resolve(performance.now())));
  look();
})`;

/** The time from the start of the navigation until the page shows what a CSS selector finds, in milliseconds. */
export async function timeNavigation(page: Page, path: string, selector: string): Promise<number> {
  await page.goto(path, { waitUntil: 'commit' });
  return await page.evaluate<number>(shown(selector));
}

/**
 * The time from a click until the page shows what a CSS selector finds, and the longest task meanwhile, both measured in
 * the page: the way of a command to the browser and back is not in it. A task of up to 50 ms counts as 0.
 */
export async function timeClick(
  page: Page,
  target: Locator,
  selector: string,
): Promise<{ shownMs: number; longestTaskMs: number }> {
  await target.hover();
  await page.evaluate(observeTasks);
  await page.evaluate(
    `globalThis.shownMs = new Promise((resolve) =>
    addEventListener('click', ({ timeStamp }) => {
      globalThis.longTasks.length = 0;
      ${shown(selector)}.then((atMs) => resolve(atMs - timeStamp));
    }, { once: true, capture: true }));`
      .replace(/^/, 'void (')
      .replace(/;$/, ')'),
  );
  await target.click();
  const shownMs = await page.evaluate<number>('globalThis.shownMs');
  // The task that drew it is reported a moment later.
  const longestTaskMs = await page.evaluate<number>(
    'new Promise((resolve) => setTimeout(() => resolve(Math.max(0, ...globalThis.longTasks)), 200))',
  );
  return { shownMs, longestTaskMs };
}
