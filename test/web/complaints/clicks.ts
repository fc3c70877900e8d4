import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { toolEvent } from './sent-event.ts';

/**
 * Between the two clicks of a person: by then the first one has put the peek over the right half of the row,
 * or over all of it.
 */
const betweenClicksMs = 200;
/**
 * Each answer of the API comes this much later than the one before it, so that the parts of a page arrive one
 * by one.
 */
const answerStepMs = 100;

/** A click hits what the person aimed at. */
export function testClicks(system: BrowserSystem): void {
  test.each([1_280, 900])('a double click opens the row that it began on, %d pixels wide', async (width) => {
    await using visitor = await system.visit({ width });
    const { page, apiKey, spaceId } = visitor;
    const event = toolEvent();
    await system.send(apiKey, [event]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    const row = page.getByRole('row').nth(1);
    const title = page.getByRole('heading', { level: 1, name: 'search' });

    await page.goto(`/s/${spaceId}/events?type=tool`);
    await row.dblclick({ delay: betweenClicksMs });
    await title.waitFor();
    expect(new URL(page.url()).pathname).toBe(`/s/${spaceId}/events/${event.id}`);

    await page.goto(`/s/${spaceId}/live`);
    await page.getByText('Waiting for events').waitFor();
    const stored = toolEvent();
    await system.send(apiKey, [stored]);
    await row.dblclick({ delay: betweenClicksMs });
    await title.waitFor();
    expect(new URL(page.url()).pathname).toBe(`/s/${spaceId}/events/${stored.id}`);
  });

  test('a double click in the peek or on a box stays in the list', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    await system.send(apiKey, [toolEvent()]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events`);
    await page.getByRole('checkbox', { name: 'Compare search' }).dblclick({ delay: betweenClicksMs });
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('row').nth(1).click();
    const peek = page.getByRole('complementary', { name: 'Selected event' });
    await peek.getByText('search', { exact: true }).first().dblclick({ delay: betweenClicksMs });
    expect(await page.evaluate('getSelection().toString().trim()')).toBe('search');
    expect(new URL(page.url()).pathname).toBe(`/s/${spaceId}/events`);
  });

  test('nothing on the overview and in the lists moves while their parts arrive', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    await system.send(apiKey, demoEvents());
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    let answers = 0;
    await page.route('**/trpc/**', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, ++answers * answerStepMs));
      await route.continue();
    });
    await page.addInitScript(recordMoves);
    for (const [path, last] of [
      ['', page.getByRole('heading', { name: 'Models' })],
      ['/events', page.getByRole('slider')],
      ['/events?sort=cost', page.getByRole('slider')],
      ['/threads', page.getByRole('row').nth(1)],
      ['/users', page.getByRole('row').nth(1)],
    ] as const) {
      answers = 0;
      await page.goto(`/s/${spaceId}${path}`);
      await last.waitFor();
      expect({ path, moves: await readMoves(page) }).toEqual({ path, moves: [] });
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
}

/** Records what moves up or down, or leaves the window, after it was drawn. */
const recordMoves = `globalThis.moves = [];
  new PerformanceObserver((list) => moves.push(...list.getEntries().flatMap(({ sources }) => sources)
    .filter(({ previousRect, currentRect }) => previousRect.y !== currentRect.y)
    .map(({ node, previousRect, currentRect }) => [node?.textContent.slice(0, 40), previousRect.y, currentRect.y]))
  ).observe({ type: 'layout-shift', buffered: true });`;

/** @returns the text, and the places before and after, of what has moved until the page was drawn next. */
function readMoves(page: Page): Promise<unknown> {
  const drawn =
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))';
  return page.evaluate(`${drawn}.then(() => moves)`);
}
