import type { Locator, Page } from 'playwright-core';
import { waitMaxMs } from './window.ts';

// The timing code runs in the page, so that round trips to the browser are not measured. It is passed as
// text, because this folder is type-checked without DOM types. waitForFunction is not usable: it needs eval,
// which the pages' CSP forbids.

/** Records tasks that block a page for longer than 50 ms, the browser's threshold for reporting them. */
const observeTasks = `if (globalThis.longTasks === undefined) {
  globalThis.longTasks = [];
  new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries()))
    .observe({ type: 'longtask', buffered: true });
}`;

/** Resolves to the time of the frame after the first one in which the selector matches. */
const shown = (selector: string) => `new Promise((resolve, reject) => {
  const endMs = performance.now() + ${waitMaxMs};
  const look = () => requestAnimationFrame(() => {
    if (document.querySelector(${JSON.stringify(selector)}) !== null)
      return requestAnimationFrame(() => resolve(performance.now()));
    if (performance.now() > endMs) return reject(new Error(${JSON.stringify(`never shown: ${selector}`)}));
    look();
  });
  look();
})`;

/** Delay until the browser has reported a task that ended. */
const reportedMs = 200;
/** The page is idle after this time without a long task. */
const quietMs = 1_000;

/**
 * The times from the start of a navigation until a CSS selector matches, and until the last long task has
 * also ended, in milliseconds.
 */
export async function timeNavigation(
  page: Page,
  path: string,
  selector: string,
): Promise<{ shownMs: number; interactiveMs: number }> {
  await page.goto(path, { waitUntil: 'commit' });
  await page.evaluate(observeTasks);
  const shownMs = await page.evaluate<number>(shown(selector));
  const lastTaskMs = await page.evaluate<number>(`new Promise((resolve) => {
    const last = () => Math.max(0, ...globalThis.longTasks.map(({ startTime, duration }) => startTime + duration));
    const fromMs = performance.now();
    const look = () =>
      performance.now() - Math.max(fromMs, last()) > ${quietMs} ? resolve(last()) : setTimeout(look, 100);
    look();
  })`);
  return { shownMs, interactiveMs: Math.max(shownMs, lastTaskMs) };
}

/**
 * The time from a click until a CSS selector matches, and the longest task meanwhile, in milliseconds. A task
 * of up to 50 ms counts as 0.
 */
export async function timeClick(
  page: Page,
  target: Locator,
  selector: string,
): Promise<{ shownMs: number; longestTaskMs: number }> {
  await target.hover();
  await page.evaluate(observeTasks);
  await page.evaluate(`void (globalThis.shownMs = new Promise((resolve, reject) =>
    addEventListener('click', ({ timeStamp }) => {
      globalThis.longTasks.length = 0;
      ${shown(selector)}.then((atMs) => resolve(atMs - timeStamp), reject);
    }, { once: true, capture: true })))`);
  await target.click();
  const shownMs = await page.evaluate<number>('globalThis.shownMs');
  return { shownMs, longestTaskMs: await longestTask(page) };
}

/** The longest task of a page since the last reset, in milliseconds. */
async function longestTask(page: Page): Promise<number> {
  return await page.evaluate<number>(
    `new Promise((resolve) => setTimeout(
      () => resolve(Math.max(0, ...globalThis.longTasks.map(({ duration }) => duration))), ${reportedMs}))`,
  );
}

/**
 * Resolves to the wall-clock time at which an element of the selector contains a text. Polling starts
 * immediately.
 */
export async function timeText(page: Page, selector: string, text: string): Promise<number> {
  return await page.evaluate<number>(`new Promise((resolve, reject) => {
    const endMs = performance.now() + ${waitMaxMs};
    const look = () => requestAnimationFrame(() => {
      const isThere = [...document.querySelectorAll(${JSON.stringify(selector)})]
        .some(({ textContent }) => textContent.includes(${JSON.stringify(text)}));
      if (isThere) return requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
      if (performance.now() > endMs) return reject(new Error(${JSON.stringify(`never shown: ${text}`)}));
      look();
    });
    look();
  })`);
}

/**
 * The longest time from an input to the next painted frame (INP) during an action, in milliseconds. The
 * browser reports in steps of 8, and nothing below 16.
 */
export async function measureInputs(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(`{
    globalThis.inputs = [];
    new PerformanceObserver((list) =>
      globalThis.inputs.push(...list.getEntries().filter(({ interactionId }) => interactionId > 0).map(({ duration }) => duration)))
      .observe({ type: 'event', durationThreshold: 16 });
  }`);
  await act();
  return await page.evaluate<number>(
    `new Promise((resolve) => setTimeout(() => resolve(Math.max(16, ...globalThis.inputs)), ${reportedMs}))`,
  );
}
