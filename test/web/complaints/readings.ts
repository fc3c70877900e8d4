import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import { runSnippet } from '../../support/browser/snippet.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';

/** Complaints about the first event, times and charts, by number. */
export function testReadings(system: BrowserSystem): void {
  test('13: the snippet of a tab sends events from an empty folder', async () => {
    for (const label of ['curl', 'Node', 'TypeScript SDK']) {
      await using visitor = await system.visit();
      await runSnippet(visitor, label);
      await visitor.page.getByRole('heading', { name: 'Recent events' }).waitFor();
    }
  });

  test('14: one setting chooses the time zone of every page, and each page shows it', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    const [event] = events;
    if (event === undefined) throw new Error('the sample is empty');
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/profile`);
    const signedIn = page.getByRole('table', { name: 'Sessions' }).getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d$/);
    const before = await signedIn.first().textContent();
    await page.getByLabel('Time zone').selectOption('Pacific/Apia');
    await expect.poll(() => signedIn.first().textContent()).not.toBe(before);
    const started = new Date(event.startTimeMs + 13 * 3_600_000).toISOString();
    const shown = started.slice(0, 23).replace('T', ' ');
    for (const path of ['', '/events', `/events/${event.id}`, '/charts', '/usage']) {
      await page.goto(`/s/${spaceId}${path}`);
      // Until 2011 the zone was GMT-11; the expected offset is that of today.
      await page.getByText('Pacific/Apia (GMT+13)').first().waitFor();
    }
    await page.goto(`/s/${spaceId}/events?traceId=${event.traceId}`);
    await page.getByRole('gridcell', { name: shown }).waitFor();
    await page.goto(`/s/${spaceId}/events/${event.id}`);
    const fields = page.getByRole('complementary', { name: 'Fields' });
    await fields.getByText(shown).waitFor();
    // Another tab of the browser changes it; the page is drawn anew, and keeps what was typed.
    await page.getByRole('button', { name: 'Add a note' }).click();
    await page.getByLabel('Note', { exact: true }).fill('typed before');
    const other = await page.context().newPage();
    await other.goto(`/s/${spaceId}/profile`);
    await other.getByLabel('Time zone').selectOption('UTC');
    await fields
      .getByText(new Date(event.startTimeMs).toISOString().slice(0, 23).replace('T', ' '))
      .waitFor();
    expect(await page.getByLabel('Note', { exact: true }).inputValue()).toBe('typed before');
    await page.getByText('Times in UTC').waitFor();
  });

  test('4 and 15: charts only read statistics, and are available by keyboard and as a table', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    // The overview polls for events.
    await page.goto('about:blank');
    const calls: string[] = [];
    page.on('request', (request) => void calls.push(decodeURIComponent(new URL(request.url()).pathname)));
    await page.goto(`/s/${spaceId}/charts?last=30d&by=model`);
    const chart = page.getByRole('slider', { name: 'Events' });
    await chart.focus();
    await page.keyboard.press('ArrowLeft');
    const newest = await chart.getAttribute('aria-valuetext');
    await page.keyboard.press('ArrowLeft');
    expect(await chart.getAttribute('aria-valuetext')).not.toBe(newest);
    const models = new Set(events.map(({ properties: { llm } }) => llm?.model).filter(Boolean));
    expect(models.size).toBeGreaterThan(1);
    for (const model of models) {
      const count = events.filter(({ properties: { llm } }) => llm?.model === model).length;
      const link = page.getByRole('link', { name: String(model), exact: true });
      const row = page.getByRole('row').filter({ has: link });
      await row
        .getByRole('cell', { name: String(count), exact: true })
        .first()
        .waitFor();
    }
    expect(calls.some((path) => path.includes('charts.'))).toBe(true);
    expect(calls.filter((path) => path.includes('events.'))).toEqual([]);
  });
}
