import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser/use-browser.ts';
import { llmEvent, toolEvent } from './complaints/sent-event.ts';

const system = useBrowser();

/** Disables polling in the pages, so that new data can only come from the live stream. */
const noPolling = 'globalThis.setInterval = () => 0;';

test('an open overview shows newly stored events from the live stream', async () => {
  await using visitor = await system.visit();
  const { page, context, apiKey, spaceId } = visitor;
  await system.send(apiKey, [llmEvent({ model: 'first' })]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await context.addInitScript(noPolling);
  const streamed = page.waitForRequest(/live\.tail/);
  await page.goto(`/s/${spaceId}`);
  const recent = page.getByRole('table', { name: 'Recent events' });
  await recent.getByRole('link', { name: 'first' }).waitFor();
  await streamed;
  const figures = page.locator('dl').first();
  for (const [name, count] of [
    ['second', 2],
    ['third', 3],
  ] as const) {
    await system.send(apiKey, [llmEvent({ model: name })]);
    await recent.getByRole('link', { name }).waitFor();
    await figures.getByTitle(String(count), { exact: true }).waitFor();
  }
});

test('the list counts new events of its filter from the live stream', async () => {
  await using visitor = await system.visit();
  const { page, context, apiKey, spaceId } = visitor;
  await system.send(apiKey, [toolEvent(), llmEvent({})]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await context.addInitScript(noPolling);
  await page.goto(`/s/${spaceId}/events?type=tool`);
  await page.getByRole('row').nth(1).waitFor();
  await system.send(apiKey, [toolEvent(), llmEvent({}), toolEvent()]);
  const pill = page.getByRole('button', { name: /new$/ });
  await pill.getByText('2 new').waitFor();
  await system.send(apiKey, [toolEvent()]);
  await pill.getByText('3 new').waitFor();
  expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('2');
  await pill.click();
  await pill.waitFor({ state: 'detached' });
  expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('5');
});

test('without a stream the list and the overview poll', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  await system.send(apiKey, [llmEvent({ model: 'first' })]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.route(/live\.tail/, (route) => route.abort());
  await page.goto(`/s/${spaceId}/events`);
  await page.getByRole('row').nth(1).waitFor();
  await system.send(apiKey, [llmEvent({ model: 'second' })]);
  await page.getByRole('button', { name: '1 new' }).waitFor();
  await page.goto(`/s/${spaceId}`);
  const recent = page.getByRole('table', { name: 'Recent events' });
  await recent.getByRole('link', { name: 'second' }).waitFor();
  await system.send(apiKey, [llmEvent({ model: 'third' })]);
  await recent.getByRole('link', { name: 'third' }).waitFor();
});
