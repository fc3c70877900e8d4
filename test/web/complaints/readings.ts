import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';

const clients = fileURLToPath(new URL('../../../examples/clients/', import.meta.url));
const snippets = [
  ['curl', 'curl/send-events.sh'],
  ['Python', 'python-requests/send_events.py'],
  ['Node', 'node-connect/send-events.js'],
  ['Go', 'go-http/main.go'],
] as const;

/** The complaints about the first event, times and charts, by their numbers. */
export function testReadings(system: BrowserSystem): void {
  test('13: the snippets are the tested clients, and what is shown for curl sends events when it is run', async () => {
    await using visitor = await system.visit();
    const { page, apiKey } = visitor;
    const code = page.getByRole('tabpanel').locator('pre');
    for (const [label, file] of snippets) {
      await page.getByRole('tab', { name: label, exact: true }).click();
      expect(await code.first().textContent()).toBe(readFileSync(join(clients, file), 'utf8'));
    }
    await page.getByRole('tab', { name: 'curl' }).click();
    const directory = mkdtempSync(join(tmpdir(), 'weir-snippet-'));
    try {
      writeFileSync(join(directory, 'send-events.sh'), (await code.first().textContent()) ?? '');
      const command = ((await code.nth(1).textContent()) ?? '').replace('YOUR_API_KEY', apiKey);
      const { stdout } = await promisify(execFile)('sh', ['-ec', command], {
        cwd: directory,
        env: { PATH: env.PATH },
      });
      expect(JSON.parse(stdout)).toMatchObject({ message: 'Queued 2 events.' });
    } finally {
      rmSync(directory, { recursive: true });
    }
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  });

  test('14: one setting chooses the time zone of every page, and each page names it', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    const [event] = events;
    if (event === undefined) throw new Error('the sample is empty');
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/profile`);
    await page.getByLabel('Time zone').selectOption('Pacific/Apia');
    const started = new Date(event.startTimeMs + 13 * 3_600_000).toISOString();
    const shown = started.slice(0, 23).replace('T', ' ');
    for (const path of ['', '/events', `/events/${event.id}`, '/charts', '/usage']) {
      await page.goto(`/s/${spaceId}${path}`);
      // Until 2011 it was at GMT-11: the difference is that of today.
      await page.getByText('Pacific/Apia (GMT+13)').first().waitFor();
    }
    await page.goto(`/s/${spaceId}/events?traceId=${event.traceId}`);
    await page.getByRole('gridcell', { name: shown }).waitFor();
    await page.goto(`/s/${spaceId}/events/${event.id}`);
    await page.getByRole('complementary', { name: 'Fields' }).getByText(shown).waitFor();
  });

  test('4 and 15: charts read statistics only, by keys, and in a table', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    // The overview asks for events from time to time.
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
