import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser/use-browser.ts';
import { untilDrained } from '../support/wait.ts';
import { llmEvent } from './complaints/sent-event.ts';

const system = useBrowser();

const turnCount = 2_000;
const pageTurns = 50;
const nodesMax = 30;

test('a thread of thousands of turns renders few of them, keeps the scroll position, and can be searched', {
  timeout: 300_000,
}, async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  for (const turns of longThread()) await system.send(apiKey, turns);
  await untilDrained(system.pipeline);
  await page.goto(`/s/${spaceId}/threads/long`);
  const feed = page.getByRole('feed', { name: 'Turns' });
  const articles = feed.getByRole('article');
  const current = feed.locator('article[aria-current=true]');

  // It opens at the end and stays there while texts of different heights load.
  await feed.getByText(`answer ${turnCount - 1};`).waitFor();
  await settle(page);
  await expect
    .poll(() => inFeed<number>(page, 'node.scrollHeight - node.scrollTop - node.clientHeight'))
    .toBeLessThan(2);
  expect(await articles.count()).toBeLessThanOrEqual(nodesMax);
  // There are earlier turns, but their number is unknown.
  expect(await articles.last().getAttribute('aria-posinset')).toBe(String(pageTurns));
  expect(await articles.last().getAttribute('aria-setsize')).toBe('-1');

  // Earlier turns load while the first loaded ones are in view.
  const gate = Promise.withResolvers<void>();
  let requests = 0;
  await page.route(/threads\.turns/, async (route) => {
    requests += 1;
    await gate.promise;
    await route.continue();
  });
  await feed.hover();
  await page.mouse.wheel(0, -100_000);
  await expect.poll(() => inFeed(page, 'node.scrollTop')).toBe(0);
  await page.mouse.wheel(0, 700);
  await expect.poll(() => feed.getAttribute('aria-busy')).toBe('true');
  await settle(page);
  const before = await firstInView(page);
  gate.resolve();
  const read = feed.locator(`article:has(a[href="${before.href}"])`);
  await expect
    .poll(() => read.getAttribute('aria-posinset'), { timeout: 30_000 })
    .toBe(String(before.place + pageTurns));
  await settle(page);
  expect(Math.abs((await firstInView(page)).top - before.top)).toBeLessThan(2);
  expect((await firstInView(page)).href).toBe(before.href);
  expect(requests).toBe(1);

  // The keys move between turns and move the focus too.
  await page.keyboard.press('k');
  const from = Number(await current.getAttribute('aria-posinset'));
  for (let i = 0; i < 20; i++) await page.keyboard.press('k');
  await expect.poll(() => current.getAttribute('aria-posinset')).toBe(String(from - 20));
  await expect.poll(() => hasFocus(page)).toBe(true);
  expect(await articles.count()).toBeLessThanOrEqual(nodesMax);

  // One of the oldest turns is not loaded; the search finds it by its text.
  expect(await feed.getByText('question 3;').count()).toBe(0);
  await page.keyboard.press('/');
  await page.keyboard.type('question 3;');
  await page.keyboard.press('Enter');
  await page.getByRole('search').getByText('1 of 1').waitFor();
  await current.getByText('question 3;').waitFor({ timeout: 120_000 });
  await expect.poll(() => hasFocus(page)).toBe(true);
  await settle(page);
  expect(await isInView(page, current)).toBe(true);
  expect(await current.getAttribute('aria-posinset')).toBe('4');
  expect(await current.getAttribute('aria-setsize')).toBe(String(turnCount));
  expect(await articles.count()).toBeLessThanOrEqual(nodesMax);
});

/** Requests of turns whose texts have one to twenty lines. */
function longThread(): object[][] {
  const now = Date.now() - 2 * turnCount * 1_000;
  const turns = Array.from({ length: turnCount }, (_, i) => {
    const startTimeMs = now + i * 1_000;
    const lines = Array.from({ length: (i * 7) % 19 }, (_, line) => `line ${line}`);
    return llmEvent(
      {
        input: { prompt: `question ${i};` },
        output: { response: [...lines, `answer ${i};`].join('\n') },
      },
      { startTimeMs, endTimeMs: startTimeMs + 250, context: { threadId: 'long' } },
    );
  });
  return Array.from({ length: turnCount / 500 }, (_, i) => turns.slice(i * 500, (i + 1) * 500));
}

/**
 * Evaluates an expression over the feed's element. Passed as a string: this file is type-checked without DOM
 * types.
 */
function inFeed<Value>(page: Page, expression: string): Promise<Value> {
  return page.evaluate<Value>(
    `(() => { const node = document.querySelector('[role=feed]'); return ${expression}; })()`,
  );
}

/** Resolves when no text is loading, the layout is done and the wheel scroll has ended. */
async function settle(page: Page): Promise<void> {
  const loading = page.getByRole('feed').getByRole('status', { name: 'Loading' });
  await expect.poll(() => loading.count(), { timeout: 30_000 }).toBe(0);
  await page.evaluate(`(async () => {
    const node = document.querySelector('[role=feed]');
    for (let still = 0, last = -1; still < 10; last = node.scrollTop) {
      await new Promise((drawn) => requestAnimationFrame(drawn));
      still = node.scrollTop === last ? still + 1 : 0;
    }
  })()`);
}

/** The first visible turn: its link, its position in the list and on the screen. */
function firstInView(page: Page): Promise<{ href: string; place: number; top: number }> {
  return inFeed(
    page,
    `[...node.querySelectorAll('article')]
      .filter((one) => one.getBoundingClientRect().bottom > node.getBoundingClientRect().top)
      .map((one) => ({
        href: one.querySelector('h2 a').getAttribute('href'),
        place: Number(one.ariaPosInSet),
        top: one.getBoundingClientRect().top,
      }))[0]`,
  );
}

async function isInView(page: Page, turn: Locator): Promise<boolean> {
  const box = await turn.boundingBox();
  const height = page.viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y < height;
}

/** Whether the current turn has the focus. */
function hasFocus(page: Page): Promise<boolean> {
  return inFeed(page, `document.activeElement === node.querySelector('article[aria-current=true]')`);
}
