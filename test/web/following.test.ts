import { expect, test } from 'vitest';
import { type SpanInit, toProtobuf } from '../../harness/fixtures/spans.ts';
import { useBrowser } from '../support/browser/use-browser.ts';
import { postTraces } from '../support/otlp/otlp-http.ts';
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

test('the page of live events shows what later spans change, without a reload', async () => {
  // Wide enough for the column of the thread.
  await using visitor = await system.visit({ width: 1_920 });
  const { page, spaceId, apiKey } = visitor;
  const opening = Promise.withResolvers<void>();
  await page.route(/live\.tail/, async (route) => {
    await opening.promise;
    await route.continue();
  });
  await page.goto(`/s/${spaceId}/live`);
  await page.getByText('Connecting').first().waitFor();
  expect(await page.getByText('Waiting for events').count()).toBe(0);
  opening.resolve();
  await page.getByText('Waiting for events').waitFor();
  const idOf = (number: number) => String(number).padStart(16, '0');
  const send = async (span: SpanInit) => {
    const body = toProtobuf({ spans: [span] });
    const { status } = await postTraces(
      system.pipeline,
      { apiKey },
      { type: 'application/x-protobuf', body },
    );
    expect(status).toBe(200);
  };
  const grid = page.getByRole('grid', { name: 'Live events' });
  const outer = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'outer-model' };
  await send({ spanId: idOf(2), parentSpanId: idOf(1), attributes: outer });
  await grid.getByText('outer-model').waitFor();
  const inner = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'inner-model' };
  await send({ spanId: idOf(3), parentSpanId: idOf(2), attributes: inner });
  await grid.getByText('inner-model').waitFor();
  await grid.getByText('outer-model').waitFor({ state: 'detached' });
  const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': 'thread-of-agent' };
  await send({ spanId: idOf(1), attributes: agent });
  await grid.getByText('thread-of-agent').waitFor();
  expect(await grid.getByText('inner-model').count()).toBe(1);
});
