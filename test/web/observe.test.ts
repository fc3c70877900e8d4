import { expect, test } from 'vitest';
import { demoEvents } from '../support/browser/demo-events.ts';
import { useBrowser } from '../support/browser/use-browser.ts';

const system = useBrowser();

test('the live page shows what is stored, by its filter, and counts what waits while it is paused', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, apiKey } = visitor;
  await page.goto(`/s/${spaceId}/live?type=tool`);
  await page.getByText('Waiting for events').waitFor();
  await page.getByText('Live', { exact: true }).nth(2).waitFor();
  const events = demoEvents();
  const tools = events.filter(({ type }) => type === 'tool');
  await system.send(apiKey, events);
  const grid = page.getByRole('grid', { name: 'Live events' });
  await page.locator(`[role=grid][aria-rowcount="${tools.length + 1}"]`).waitFor();
  expect(await grid.getByLabel('LLM call').count()).toBe(0);

  await page.keyboard.press('p');
  await page.getByText('Paused', { exact: true }).waitFor();
  await system.send(apiKey, demoEvents());
  await page.getByRole('button', { name: `Resume, ${tools.length} waiting` }).waitFor();
  expect(await grid.getAttribute('aria-rowcount')).toBe(String(tools.length + 1));
  await page.keyboard.press('p');
  await page.locator(`[role=grid][aria-rowcount="${2 * tools.length + 1}"]`).waitFor();
});

test('a trace leads to its error, and its thread shows the conversation', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, apiKey } = visitor;
  const events = demoEvents();
  const failed = events.find(({ type, status }) => type === 'tool' && status.state === 'error');
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/traces/${failed?.traceId}`);
  const grid = page.getByRole('grid', { name: 'Events of the trace' });
  const own = events.filter(({ traceId }) => traceId === failed?.traceId);
  // One lane: an agent with one thread.
  await grid.getByText(`${own.length} events`).waitFor();
  expect(await grid.getAttribute('aria-rowcount')).toBe(String(own.length + 1));
  await page.keyboard.press('e');
  await page.waitForURL((url) => url.searchParams.get('peek') === failed?.id);
  const peek = page.getByRole('complementary', { name: 'The selected event' });
  await peek.getByRole('link', { name: 'Open thread' }).click();
  await page.getByRole('heading', { name: failed?.context.threadId ?? '' }).waitFor();
  await page.getByLabel('Prompt').first().waitFor();
  expect(await page.getByRole('article').count()).toBeGreaterThan(2);
});
