import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { toolEvent } from './sent-event.ts';

/** Complaints about lists, by number (docs/dashboard.md). */
export function testLists(system: BrowserSystem): void {
  test('8 and 10: filters are in the address, survive a reload, and apply to j, k and opened events', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    const wanted = events
      .filter(({ type, status }) => type === 'tool' && status.state === 'error')
      .toSorted(newestFirst);
    expect(wanted.length).toBeGreaterThan(2);

    await page.goto(`/s/${spaceId}/events`);
    await page.getByLabel('Search events, or filter by field:value').fill('type:tool state:error');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('state') === 'error');
    await page.reload();
    await page.getByRole('list', { name: 'Filters' }).getByText('error').waitFor();
    await page.getByRole('row').nth(wanted.length).waitFor();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(wanted.length + 1));

    const peeksAt = (place: number) =>
      page.waitForURL((url) => url.searchParams.get('peek') === wanted[place]?.id);
    for (const [key, place] of [
      ['j', 0],
      ['j', 1],
      ['j', 2],
      ['k', 1],
    ] as const) {
      await page.keyboard.press(key);
      await peeksAt(place);
    }
    // The list beside it keeps the column of errors in sight.
    const column = await page.getByRole('columnheader', { name: 'Input → output' }).boundingBox();
    const peek = await page.getByRole('complementary', { name: 'Selected event' }).boundingBox();
    expect((column?.x ?? Number.POSITIVE_INFINITY) + 100).toBeLessThan(peek?.x ?? 0);
    // The link of the peek keeps the filter, like Enter: the next key stays in the list.
    await page.getByRole('complementary').getByRole('link', { name: 'Open', exact: true }).click();
    await page.waitForURL(`**/events/${wanted[1]?.id}**`);
    await page.getByRole('button', { name: 'Later event (])', disabled: false }).waitFor();
    await page.keyboard.press(']');
    await page.waitForURL(`**/events/${wanted[0]?.id}**`);
    expect(new URL(page.url()).searchParams.get('state')).toBe('error');
  });

  test('12: a column keeps its width, and rows stay in place when events arrive', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    await system.send(apiKey, demoEvents().slice(0, 5));
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events`);
    const handle = page.getByRole('separator', { name: 'Width of Model or tool' });
    await handle.focus();
    const before = Number(await handle.getAttribute('aria-valuenow'));
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
    const width = Number(await handle.getAttribute('aria-valuenow'));
    expect(width).toBeGreaterThan(before + 50);
    await page.reload();
    await handle.waitFor();
    expect(await handle.getAttribute('aria-valuenow')).toBe(String(width));
    const box = await page.getByRole('columnheader', { name: 'Model or tool' }).boundingBox();
    expect(Math.round(box?.width ?? 0)).toBe(width);

    const row = page.getByRole('row').nth(1);
    await row.waitFor();
    const first = await row.textContent();
    await system.send(apiKey, demoEvents().slice(0, 2));
    await page.getByRole('button', { name: '2 new' }).waitFor();
    expect(await row.textContent()).toBe(first);
    await page.getByRole('button', { name: '2 new' }).click();
    await page.getByRole('button', { name: '2 new' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('8');
  });

  test('a list of errors shows the message of each event first, so that failures can be told apart', async () => {
    await using visitor = await system.visit({ width: 1_440 });
    const { page, apiKey, spaceId } = visitor;
    const input = { city: 'a long input that is the same in every call of the tool and fills the column' };
    const failed = ['rate limit reached', 'city not found'].map((message) =>
      toolEvent({
        status: { state: 'error', error: { message } },
        properties: { tool: { name: 'search', input } },
      }),
    );
    await system.send(apiKey, failed);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events?state=error`);
    for (const message of ['rate limit reached', 'city not found']) {
      const cell = page.getByRole('gridcell').filter({ hasText: message });
      await cell.waitFor();
      expect(await cell.textContent()).toMatch(new RegExp(`^${message} ← .*a long input`));
    }
  });
}

function newestFirst(a: { startTimeMs: number }, b: { startTimeMs: number }): number {
  return b.startTimeMs - a.startTimeMs;
}
