import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';

/** Charts. */
export function testCharts(system: BrowserSystem): void {
  test('charts are drawn when the system has no locale, or the browser a language that Intl rejects', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    await system.send(apiKey, demoEvents());
    await page.addInitScript(
      `Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true });`,
    );
    await page.goto(`/s/${spaceId}/charts`);
    await page.getByRole('slider', { name: 'Events' }).locator('canvas').waitFor();
  });

  test('charts can be read by keyboard and zoomed by dragging, and link to the events of a group', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/charts?last=7d`);
    const chart = page.getByRole('slider', { name: 'Events' });
    await chart.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('End');
    expect(await chart.getAttribute('aria-valuetext')).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d: OK \d+, Errors \d+$/,
    );

    const box = await chart.boundingBox();
    if (box === null) throw new Error('the chart has no size');
    await page.mouse.move(box.x + box.width * 0.4, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.95, box.y + 50, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL((url) => url.searchParams.has('from') && url.searchParams.has('to'));

    await page.goto(`/s/${spaceId}/charts?last=7d`);
    await chart.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => {
      const [from, to] = ['from', 'to'].map((end) => Number(url.searchParams.get(end)));
      return (to ?? 0) - (from ?? 0) === 2 * 3_600_000;
    });

    await page.goto(`/s/${spaceId}/charts?by=tool`);
    const name = String(events.find(({ type }) => type === 'tool')?.properties.tool?.name);
    const count = events.filter(({ properties: { tool } }) => tool?.name === name).length;
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row
      .getByRole('cell', { name: String(count), exact: true })
      .first()
      .waitFor();
    await row.getByRole('link').click();
    await page.waitForURL(
      (url) => url.searchParams.get('name') === name && url.searchParams.get('last') === '24h',
    );
    await page.getByRole('row').nth(1).waitFor();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(count + 1));
  });
}
