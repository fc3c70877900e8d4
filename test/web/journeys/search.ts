import AxeBuilder from '@axe-core/playwright';
import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { until, untilDrained } from '../../support/wait.ts';

/** Finding events: filters, the search field, and ranges. */
export function testSearch(system: BrowserSystem): void {
  test('a failing tool call can be filtered, peeked at, opened and stepped from, with all state in the address', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    const failed = events.filter(({ type, status }) => type === 'tool' && status.state === 'error');
    expect(failed.length).toBeGreaterThan(2);
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();

    await page.goto(`/s/${spaceId}/events?type=tool&state=error`);
    const rows = page.getByRole('row', { selected: false });
    await rows.first().waitFor();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(failed.length + 1));
    // j moves within the filtered list.
    await page.keyboard.press('j');
    await page.getByRole('complementary', { name: 'Selected event' }).waitFor();
    await page.keyboard.press('j');
    const newestFirst = failed.toSorted((a, b) => b.startTimeMs - a.startTimeMs);
    await page.waitForURL((url) => url.searchParams.get('peek') === newestFirst[1]?.id);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/events/${newestFirst[1]?.id}?**`);
    await page.getByRole('tab', { name: 'Conversation', selected: true }).waitFor();
    await page.getByRole('button', { name: 'Earlier event ([)', disabled: false }).waitFor();
    await page.keyboard.press('[');
    await page.waitForURL(`**/events/${newestFirst[2]?.id}?**`);
    expect(new URL(page.url()).searchParams.get('state')).toBe('error');
  });

  test('a failing tool call is found among many events by typing, and links to its trace', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const wanted = demoEvents();
    const failed = wanted.find(({ type, status }) => type === 'tool' && status.state === 'error');
    if (failed === undefined) throw new Error('no tool of the sample fails');
    failed.status.error = {
      code: 'calendar_locked',
      httpStatus: 423,
      message: 'somebody else holds the lock',
    };
    for (let batch = 0; batch < 15; batch++) await system.send(apiKey, demoEvents());
    await system.send(apiKey, wanted);
    await untilDrained(system.pipeline);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();

    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.waitForURL(`**/s/${spaceId}/events`);
    // Waits for the address: until the events page is loaded, the overview, which has rows too, is shown.
    await page.getByLabel('Search events').waitFor();
    await page.getByRole('row').nth(5).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('type:tool state:error error:calendar_locked');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('errorCode') === 'calendar_locked');
    await page.locator('[role=grid][aria-rowcount="2"]').waitFor();
    // Leaves the field, in which j would be typed.
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    const peek = page.getByRole('complementary', { name: 'Selected event' });
    await peek.getByText('Error: code calendar_locked, HTTP 423').waitFor();
    await peek.getByRole('link', { name: 'Open trace' }).click();
    const own = wanted.filter(({ traceId }) => traceId === failed.traceId);
    await page.locator(`[role=grid][aria-rowcount="${own.length + 1}"]`).waitFor();
    await page.keyboard.press('e');
    await page.waitForURL((url) => url.searchParams.get('peek') === failed.id);
    await peek.getByText('somebody else holds the lock').waitFor();
  });

  test('the search field completes fields and values, asks about a wrong field, and compares numbers', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events`);
    const grid = page.getByRole('grid');
    await grid.waitFor();
    await page.keyboard.press('/');
    const field = page.getByRole('combobox', { name: /Search events/ });
    await field.pressSequentially('mistral');
    await page
      .getByRole('option', { name: /^model is mistral-large-latest \d+ events? in 30 days$/ })
      .click();
    await page.waitForURL((url) => url.searchParams.get('name') === 'mistral-large-latest');
    await page.getByRole('link', { name: 'Alert', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'New alert' });
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Error rate of mistral-large-latest');
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => url.search === '');
    await page.goto(`/s/${spaceId}/events`);
    await grid.waitFor();
    await page.keyboard.press('/');
    await field.pressSequentially('mod');
    await page.getByRole('option', { name: 'model:' }).waitFor();
    const { violations } = await new AxeBuilder({ page }).include('search').analyze();
    expect(violations).toEqual([]);
    // Tab completes, the arrows choose a value of the space, Enter takes it and then searches.
    await page.keyboard.press('Tab');
    const option = page.getByRole('option', { name: 'mistral-large-latest' });
    await option.waitFor();
    while ((await option.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toBe('model:mistral-large-latest ');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('name') === 'mistral-large-latest');
    await page.getByRole('button', { name: 'Clear', exact: true }).click();

    await field.fill('usr:cus');
    await page.keyboard.press('Enter');
    await page.getByText('There is no field “usr”. Did you mean user:?').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('button', { name: 'Search user:' }).click();
    await page.waitForURL((url) => url.searchParams.get('userId') === 'cus');
    await page.getByRole('button', { name: 'Clear', exact: true }).click();

    const slow = events.filter(({ durationMs }) => durationMs > 2_000);
    expect(slow.length).toBeGreaterThan(0);
    await field.fill('took:>2s');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove: Duration >2s' }).waitFor();
    await until(async () => (await grid.getAttribute('aria-rowcount')) === String(slow.length + 1));
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    // Costs are compared in a range, at list prices.
    await field.fill('cost:>0.0001');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('last') === '30d');
    await grid.getByRole('row').nth(1).waitFor();
    await field.fill('cost:cheap');
    await page.keyboard.press('Enter');
    await page.getByText(/“cheap” is not a comparison/).waitFor();
  });

  test('an empty range leads to the newest event, and days and ranges of the own time zone can be chosen', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const nowMs = Date.now() - 20 * 86_400_000;
    const events = demoEvents(nowMs);
    await system.send(apiKey, events);
    await page.getByText(/The newest event started on/).waitFor();
    await page.getByRole('button', { name: 'Show the day up to it' }).click();
    await page.waitForURL((url) => Number(url.searchParams.get('to')) >= nowMs - 60_000);
    await page.getByText(/^[1-9]\d* events?, \d+ errors?; at most/).waitFor();
    // By keyboard: the last two bars, without the pointer. The overview keeps the range.
    const bars = page.getByRole('slider', { name: /Events over time/ });
    await bars.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => {
      const [from, to] = ['from', 'to'].map((name) => Number(url.searchParams.get(name)));
      return url.pathname === `/s/${spaceId}` && (to ?? 0) - (from ?? 0) === 2 * 3_600_000;
    });

    for (const [path, what] of [
      ['threads', 'thread was last active'],
      ['users', 'user was last active'],
      ['events', 'event started'],
      ['charts', 'event started'],
    ]) {
      await page.goto(`/s/${spaceId}/${path}?last=yesterday`);
      await page.getByText(`The newest ${what} on`).waitFor();
    }
    await page.goto(`/s/${spaceId}/users?last=yesterday`);
    await page.getByRole('button', { name: 'Show the day up to it' }).click();
    await page.getByRole('table', { name: 'Users' }).getByRole('row').nth(1).waitFor();
    await page.goto(`/s/${spaceId}/charts?last=yesterday`);
    const range = page.getByRole('combobox', { name: 'Time range' });
    expect(await range.inputValue()).toBe('yesterday');
    await range.selectOption('custom');
    const dialog = page.getByRole('dialog', { name: 'Custom range' });
    await dialog.getByLabel('From').fill('2026-01-02T10:00');
    await dialog.getByLabel('To').fill('2026-01-02T09:00');
    await dialog.getByText('The end must be after the start.').waitFor();
    await dialog.getByLabel('To').fill('2026-01-02T12:30');
    await dialog.getByRole('button', { name: 'Show' }).click();
    // Times of Zurich, the zone of the browser.
    await page.waitForURL((url) => url.searchParams.get('from') === String(Date.UTC(2026, 0, 2, 9)));
    expect(new URL(page.url()).searchParams.get('to')).toBe(String(Date.UTC(2026, 0, 2, 11, 30)));
  });
}
