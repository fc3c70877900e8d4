import { expect, test } from 'vitest';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { untilDrained } from '../../support/wait.ts';
import { llmEvent, toolEvent } from './sent-event.ts';

/** Complaints about traces, threads and the live tail, by number. */
export function testLongLists(system: BrowserSystem): void {
  test('3: a trace of a thousand events renders few rows, and loads a body when it is clicked', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const traceId = crypto.randomUUID();
    const now = Date.now() - 10_000;
    const events = Array.from({ length: 1_000 }, (_, i) =>
      toolEvent({ traceId, startTimeMs: now + i, endTimeMs: now + i + 5, durationMs: 5 }),
    );
    await system.send(apiKey, events.slice(0, 500));
    await untilDrained(system.pipeline);
    const bodies = countCalls(page, 'events.get');
    await page.goto(`/s/${spaceId}/traces/${traceId}`);
    await page.getByText('500 events').first().waitFor();
    await system.send(apiKey, events.slice(500));
    await untilDrained(system.pipeline);
    await page.getByRole('button', { name: 'Reload the trace' }).click();
    await page.getByText('1K events').or(page.getByText('1,000 events')).first().waitFor();
    const rows = page.getByRole('grid', { name: 'Events of the trace' }).getByRole('row');
    expect(await rows.count()).toBeGreaterThan(5);
    expect(await rows.count()).toBeLessThanOrEqual(60);
    expect(bodies()).toBe(0);
    await rows.nth(3).click();
    const peek = page.getByRole('complementary', { name: 'Selected event' });
    await peek.getByText('Started', { exact: true }).waitFor();
    expect(bodies()).toBe(1);
  });

  test('6: a long thread shows its newest turns, and loads the texts of those near the viewport', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const now = Date.now() - 100_000;
    const turns = Array.from({ length: 60 }, (_, i) =>
      llmEvent(
        { input: { prompt: `question ${i}` }, output: { response: `${'words '.repeat(60)}answer ${i}` } },
        { startTimeMs: now + i * 1_000, endTimeMs: now + i * 1_000 + 250, context: { threadId: 'long' } },
      ),
    );
    await system.send(apiKey, turns);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    const bodies = countCalls(page, 'events.get');
    await page.goto(`/s/${spaceId}/threads/long`);
    await page.getByText('question 59', { exact: true }).waitFor();
    expect(await page.getByRole('article').count()).toBeLessThan(25);
    expect(bodies()).toBeLessThan(25);
    await page.getByRole('feed').hover();
    await page.mouse.wheel(0, -100_000);
    // The ten turns before the first page.
    await page.getByRole('article').and(page.locator('[aria-setsize="60"]')).first().waitFor();
    expect(bodies()).toBeLessThan(50);
  });

  test('11: the live tail keeps its filter, and shows how many events wait while it is paused', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    await page.goto(`/s/${spaceId}/live?type=tool`);
    await page.getByText('Live', { exact: true }).nth(2).waitFor();
    const wanted = () => toolEvent({ properties: { tool: { name: 'wanted', input: {} } } });
    await system.send(apiKey, [wanted(), llmEvent({ model: 'unwanted' })]);
    const grid = page.getByRole('grid', { name: 'Live events' });
    await grid.getByText('wanted', { exact: true }).waitFor();
    await page.keyboard.press('p');
    await page.getByText('Paused', { exact: true }).waitFor();
    await system.send(apiKey, [wanted(), wanted(), llmEvent({ model: 'unwanted' })]);
    await page.getByRole('button', { name: 'Resume, 2 waiting' }).waitFor();
    expect(await grid.getByText('wanted', { exact: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Resume, 2 waiting' }).click();
    await grid.getByText('wanted', { exact: true }).nth(2).waitFor();
    expect(await grid.getByText('unwanted').count()).toBe(0);
    expect(new URL(page.url()).search).toBe('?type=tool');
  });
}

/** Counts calls of a procedure from now on, including those in batches. */
function countCalls(
  page: { on(event: 'request', run: (request: { url(): string }) => void): void },
  path: string,
) {
  let count = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.split(/[/,]/).includes(path)) count += 1;
  });
  return () => count;
}
