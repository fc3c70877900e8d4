import { expect, test } from 'vitest';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { llmEvent, toolEvent } from './sent-event.ts';

/** Complaints about the display of payloads (docs/dashboard.md), by number. */
export function testPayloads(system: BrowserSystem): void {
  test('1: megabytes on one line and 10,000 keys render few nodes; base64 is shown as a chip', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const image = `data:image/png;base64,${'iVBORw0K'.repeat(40_000)}`;
    const prompt = `first words ${'x'.repeat(1_500_000)} last words`;
    const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key ${i}`, i]));
    const wide = toolEvent({ properties: { tool: { name: 'wide', input: { image, keys } } } });
    const long = llmEvent({ input: { prompt }, output: { response: 'y'.repeat(1_500_000) } });
    await system.send(apiKey, [wide, long]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();

    await page.goto(`/s/${spaceId}/events/${wide.id}#properties.tool.input.keys`);
    const lines = page.getByRole('treeitem');
    await page.getByRole('treeitem').getByText('image/png · ').waitFor();
    expect(Number(await lines.first().getAttribute('aria-setsize'))).toBeGreaterThan(10_000);
    expect(await lines.count()).toBeLessThanOrEqual(60);
    await page.getByRole('tree').focus();
    await page.keyboard.press('End');
    await page.getByRole('treeitem').getByText('key 9999', { exact: true }).waitFor();
    expect(await page.locator('body').innerHTML()).not.toContain('iVBORw0KiVBORw0K');

    for (const view of ['?view=conversation', '?view=text', '#properties.llm.input.prompt']) {
      await page.goto(`/s/${spaceId}/events/${long.id}${view}`);
      await page.getByText('first words').first().waitFor();
      expect((await page.locator('#root').innerHTML()).length).toBeLessThan(200_000);
    }
  });

  test('2: 64-bit integers are shown and copied with every digit, also in a filter', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const input = '{"id":723421968459640832,"max":18446744073709551615,"pi":3.14159265358979323846}';
    const { id, ...event } = toolEvent({
      context: { userId: '723421968459640833' },
      additionalProperties: { account: 'ACCOUNT' },
      properties: { tool: { name: 'count', input: 'INPUT' } },
    });
    const sent = JSON.stringify({ id, ...event })
      .replace('"INPUT"', input)
      .replace('"ACCOUNT"', '9223372036854775807');
    const other = toolEvent({ context: { userId: '723421968459640832' } });
    await system.send(apiKey, [sent, other]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();

    await page.goto(`/s/${spaceId}/events?userId=723421968459640833`);
    await page.getByRole('listitem').getByText('723421968459640833').waitFor();
    await page.getByRole('row').nth(1).waitFor();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('2');
    await page.getByRole('row').nth(1).dblclick();
    await page.waitForURL(`**/events/${id}?**`);
    for (const digits of ['723421968459640832', '18446744073709551615', '3.14159265358979323846']) {
      await page.getByRole('treeitem').getByText(digits, { exact: true }).waitFor();
    }
    await page.getByRole('complementary', { name: 'Fields' }).getByText('9223372036854775807').waitFor();
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('menuitem', { name: 'JSON, as sent' }).click();
    await page.getByText('JSON copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(sent);
  });

  test('5: text is shown as text, with all its white space', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const prompt = '# Title\n\n\n  - two  spaces\n\ttab **bold** [link](http://example.org/)\n   ';
    const event = llmEvent({ input: { prompt } });
    await system.send(apiKey, [event]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events/${event.id}`);
    const turn = page.getByRole('region', { name: 'Prompt' });
    const text = turn.getByText('# Title');
    expect(await text.textContent()).toBe(prompt);
    // In the layout too.
    // biome-ignore lint/performance/useDomNodeTextContent: the style is what is tested.
    expect(await text.innerText()).toBe(prompt);
    expect(await turn.locator('h1, strong, li, a').count()).toBe(0);
  });

  test('7 and 9: a call and its result are one card; a link opens one event and a path in its JSON', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const traceId = crypto.randomUUID();
    const call = { name: 'look_up', input: { city: 'Bern', 'odd name': [1, { deep: true }] } };
    const asking = llmEvent({ output: { toolCalls: [call] } }, { traceId });
    const endTimeMs = Date.now();
    const result = toolEvent({
      traceId,
      startTimeMs: endTimeMs - 10,
      endTimeMs,
      durationMs: 10,
      properties: { tool: { name: 'look_up', input: call.input, output: 'It is 21 °C in Bern.' } },
    });
    await system.send(apiKey, [asking, result]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events/${asking.id}`);
    const card = page.getByRole('region', { name: 'Calls look_up' });
    await card.getByText('It is 21 °C in Bern.').waitFor();
    await card.getByRole('treeitem').getByText('Bern').waitFor();
    await card.getByRole('link', { name: 'Result' }).click();
    await page.waitForURL(`**/events/${result.id}`);

    await page.goto(
      `/s/${spaceId}/events/${asking.id}#properties.llm.output.toolCalls[0].input["odd name"][1]`,
    );
    const marked = page.getByRole('treeitem', { selected: true });
    await marked.getByText('{', { exact: false }).waitFor();
    expect(await marked.textContent()).toMatch(/^1: /);
    await page.getByRole('tree').focus();
    await page.keyboard.press('ArrowUp');
    await page.waitForURL((url) => decodeURIComponent(url.hash).endsWith('input["odd name"][0]'));
    await page.reload();
    expect(await marked.textContent()).toBe('0: 1');
  });

  test('300 tool calls open as a few cards, and all of them on a click', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const toolCalls = Array.from({ length: 300 }, (_, i) => ({ name: `tool_${i}`, input: { place: i } }));
    const event = llmEvent({ output: { toolCalls } });
    await system.send(apiKey, [event]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events/${event.id}`);
    const cards = page.getByRole('region', { name: /^Calls tool_/ });
    await cards.first().waitFor();
    expect(await cards.count()).toBe(20);
    expect(await page.getByRole('tree').count()).toBe(10);
    await page.getByRole('button', { name: 'Show 280 more calls' }).click();
    await page.getByRole('region', { name: 'Calls tool_299' }).waitFor();
    expect(await page.getByRole('tree').count()).toBe(10);
    await page.getByRole('button', { name: /Unfold.*tool_299/ }).click();
    await page.getByRole('treeitem').getByText('299', { exact: true }).waitFor();
  });

  test('a text of megabytes is shown completely on one click, with few nodes, and can be searched', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const output = `${'-eyJaaaaaaaa'.repeat(250_000)} the last words`;
    const event = toolEvent({ properties: { tool: { name: 'dump', input: {}, output } } });
    await system.send(apiKey, [event]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events/${event.id}`);
    await page.getByRole('button', { name: 'Show all 2.9 MiB' }).click();
    const whole = page.getByRole('region', { name: 'The whole text' });
    await whole.getByRole('button', { name: 'Line 1', exact: true }).waitFor();
    await page.getByLabel('Find in the text').fill('last words');
    await page.keyboard.press('Enter');
    await whole.getByText('the last words').waitFor();
    expect((await page.locator('#root').innerHTML()).length).toBeLessThan(200_000);
    // The secret detection of the Text tab once took quadratic time on such a text.
    await page.getByRole('tab', { name: 'Text' }).click();
    await page.getByRole('button', { name: 'Line 1', exact: true }).first().waitFor();
  });

  test('paragraphs in Arabic or Hebrew are aligned to the right, others to the left', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const event = llmEvent({ input: { prompt: 'مرحبا بالعالم' }, output: { response: 'Hello.' } });
    await system.send(apiKey, [event]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events/${event.id}`);
    await page.locator('[dir=auto]:dir(rtl)', { hasText: 'مرحبا بالعالم' }).waitFor();
    await page.locator('[dir=auto]:dir(ltr)', { hasText: 'Hello.' }).waitFor();
  });
}
