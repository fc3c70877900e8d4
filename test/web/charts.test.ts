import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { hourMs } from '../../platform/time.ts';
import { operator } from '../../store/accounts/audit/audit.ts';
import { setPrice } from '../../store/prices/prices.ts';
import { useBrowser } from '../support/browser/use-browser.ts';
import { llmEvent } from './complaints/sent-event.ts';

const system = useBrowser();

test('a model keeps its colour in every range, and hovering over a chart does not shift the layout', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  await system.send(apiKey, [
    ...calls('recent', 3, 10 * 60_000),
    ...calls('older', 9, 20 * hourMs),
    ...calls('oldest', 20, 100 * hourMs),
  ]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  const colors = new Map<string, Set<string>>();
  for (const last of ['1h', '24h', '7d', '1h', '30d']) {
    await page.goto(`/s/${spaceId}/charts?by=model&last=${last}`);
    await page.getByRole('slider', { name: 'Events' }).waitFor();
    for (const [model, color] of await legendOf(page)) {
      colors.set(model, (colors.get(model) ?? new Set()).add(color));
    }
  }
  expect([...colors.keys()].sort()).toEqual(['older', 'oldest', 'recent']);
  const all = [...colors.values()].map((own) => [...own]);
  expect(all.map((own) => own.length)).toEqual([1, 1, 1]);
  expect(new Set(all.flat()).size).toBe(3);

  const table = page.getByRole('table', { name: /^The numbers of the charts/ });
  const before = await table.boundingBox();
  const chart = page.getByRole('slider', { name: 'Events' });
  for (const share of [0.3, 0.6, 0.9]) {
    const box = await chart.boundingBox();
    if (box === null) throw new Error('the chart is not in the page');
    await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
    await page.locator('ul[aria-hidden]').getByText('recent').waitFor();
    expect(await table.boundingBox()).toEqual(before);
  }
});

test('the axis of a wide chart labels each day once, and no label is cut off', async () => {
  await using visitor = await system.visit({ width: 1_440 });
  const { page, context, apiKey, spaceId } = visitor;
  await setPrice(
    system.pipeline.database,
    { spaceId, actor: operator },
    {
      model: 'm',
      validFrom: '1970-01-01',
      input: '1',
      output: '1',
      cacheRead: null,
      cacheWrite: null,
      rates: {},
    },
  );
  await system.send(apiKey, calls('m', 5, 50 * hourMs));
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  // Charts are canvases, whose texts are not in the DOM.
  await context.addInitScript(`
    globalThis.drawn = [];
    globalThis.cut = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
      drawn.push(text);
      const half = this.textAlign === 'center' ? Math.floor(this.measureText(text).width / 2) : 0;
      if (x < half || x > this.canvas.width - half) cut.push(text);
      return fillText.call(this, text, x, ...rest);
    };`);
  for (const last of ['7d', '30d']) {
    await page.goto(`/s/${spaceId}/charts?by=model&last=${last}`);
    await page.getByRole('slider', { name: 'Cost by model' }).waitFor();
    const days = () => page.evaluate<string[]>('drawn.filter((text) => /^\\d+ [A-Z][a-z]{2}$/.test(text))');
    await expect.poll(async () => (await days()).length).toBeGreaterThan(5);
    const names = await days();
    expect(names.filter((name, place) => name === names[place - 1])).toEqual([]);
  }
  // Bars without an axis of values have no room at their sides.
  for (const address of ['usage', 'events?last=30d', 'events?last=1h']) {
    await page.goto(`/s/${spaceId}/${address}`);
    await expect.poll(() => page.evaluate('drawn.filter(Boolean).length')).toBeGreaterThan(2);
    expect(await page.evaluate('cut'), address).toEqual([]);
  }
});

/** Model calls that ended this long ago. */
function calls(model: string, count: number, agoMs: number): object[] {
  const endTimeMs = Date.now() - agoMs;
  const usage = { inputTokens: 1_000, outputTokens: 100 };
  return Array.from({ length: count }, () =>
    llmEvent({ model, usage }, { startTimeMs: endTimeMs - 250, endTimeMs }),
  );
}

/** The models of the first chart, each with its colour. */
async function legendOf(page: Page): Promise<[string, string][]> {
  const card = page.locator('section').filter({ has: page.getByRole('slider', { name: 'Events' }) });
  const items = await card.getByRole('listitem').all();
  return Promise.all(
    items.map(async (item): Promise<[string, string]> => {
      const style = await item.locator('[style]').getAttribute('style');
      return [(await item.textContent()) ?? '', style ?? ''];
    }),
  );
}
