import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { demoEvents } from '../support/browser/demo-events.ts';
import { useBrowser } from '../support/browser/use-browser.ts';
import { llmEvent, toolEvent } from './complaints/sent-event.ts';

const system = useBrowser();

test('the live page shows stored events that match its filter, and counts waiting ones while it is paused', async () => {
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

test('a trace links to its error, and its thread shows the conversation', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, apiKey } = visitor;
  const events = demoEvents();
  const failed = events.find(({ type, status }) => type === 'tool' && status.state === 'error');
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/traces/${failed?.traceId}`);
  const grid = page.getByRole('grid', { name: 'Events of the trace' });
  const own = events.filter(({ traceId }) => traceId === failed?.traceId);
  // One lane, since there is one agent with one thread.
  await grid.getByText(`${own.length} events`).waitFor();
  expect(await grid.getAttribute('aria-rowcount')).toBe(String(own.length + 1));
  await page.keyboard.press('e');
  await page.waitForURL((url) => url.searchParams.get('peek') === failed?.id);
  const peek = page.getByRole('complementary', { name: 'Selected event' });
  await peek.getByRole('link', { name: 'Open thread' }).click();
  await page.getByRole('heading', { name: failed?.context.threadId ?? '' }).waitFor();
  await page.getByLabel('Prompt').first().waitFor();
  expect(await page.getByRole('article').count()).toBeGreaterThan(2);
  // It opens at the turn of the event, which is marked.
  const current = page.locator('article[aria-current=true]');
  await current.locator(`a[href$="/events/${failed?.id}"]`).waitFor();
  await expect.poll(() => isInView(page, current)).toBe(true);
});

test('a thread opened from an old event opens at its turn, although newer turns fill several pages', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, apiKey } = visitor;
  const now = Date.now() - 200_000;
  const turns = Array.from({ length: 120 }, (_, i) =>
    llmEvent(
      { input: { prompt: `question ${i};` }, output: { response: `answer ${i};` } },
      {
        startTimeMs: now + i * 1_000,
        endTimeMs: now + i * 1_000 + 250,
        context: { threadId: 'long' },
      },
    ),
  );
  await system.send(apiKey, turns);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/events/${turns[7]?.id}`);
  await page.getByRole('link', { name: 'Open thread' }).click();
  const current = page.locator('article[aria-current=true]');
  await current.getByText('question 7;').waitFor();
  await expect.poll(() => isInView(page, current)).toBe(true);
});

test('a thread shows the result of a tool once, and renders Markdown', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, apiKey } = visitor;
  const context = { threadId: 'order' };
  const start = Date.now() - 60_000;
  const at = (ms: number) => ({ startTimeMs: start + ms, endTimeMs: start + ms + 250, context });
  const output = '{"orderId":"ord_796017","state":"paid","items":[]}';
  const asked = 'Customer: where is my order?\n';
  await system.send(apiKey, [
    llmEvent({ input: { prompt: asked }, output: { toolCalls: [{ name: 'get_order' }] } }, at(0)),
    toolEvent({ ...at(1_000), properties: { tool: { name: 'get_order', input: {}, output } } }),
    llmEvent(
      {
        input: { prompt: `${asked}Tool get_order: ${output}\n` },
        output: { response: 'It is **paid**, and\n\n- packed\n- on its way' },
      },
      at(2_000),
    ),
  ]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/threads/order`);
  const feed = page.getByRole('feed', { name: 'Turns' });
  await feed.getByText('1 line as before, 1 tool result shown above').waitFor();
  expect(await feed.getByText('ord_796017').count()).toBe(1);
  await feed.locator('strong').getByText('paid', { exact: true }).waitFor();
  expect(await feed.getByRole('listitem').getByText('packed').count()).toBe(1);
  // The source text, on a click.
  await page.getByRole('button', { name: 'Markdown' }).click();
  await feed.getByText('It is **paid**').waitFor();
  await feed.getByText('1 line as before').click();
  await feed.getByText('Tool get_order: ').waitFor();
});

async function isInView(page: Page, turn: Locator): Promise<boolean> {
  const box = await turn.boundingBox();
  return box !== null && box.y + box.height > 0 && box.y < (page.viewportSize()?.height ?? 0);
}
