import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { until } from '../../support/wait.ts';

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
  test('a click on a bar opens its events, the period before stands beside, and two clicks tell whose calls a model cost', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await system.pipeline.sql`UPDATE spaces SET dimensions = ARRAY['user'] WHERE id = ${spaceId}`;
    await page.goto(`/s/${spaceId}/charts?last=7d`);
    await page.getByRole('combobox', { name: 'Size of the buckets' }).selectOption('week');
    await page.getByRole('button', { name: 'Period before' }).click();
    await page.waitForURL((url) => url.search === '?last=7d&step=week&before=1');
    const chart = page.getByRole('slider', { name: 'Events' });
    const box = await chart.boundingBox();
    if (box === null) throw new Error('the chart has no size');
    await expect
      .poll(() => chart.getAttribute('aria-valuetext'))
      .toMatch(/: OK \d+, Errors \d+, Period before 0$/);
    // Near its bottom the bar has the events without errors.
    await page.mouse.click(box.x + box.width * 0.8, box.y + box.height * 0.75);
    await page.waitForURL(
      (url) => url.searchParams.get('state') === 'ok' && Number(url.searchParams.get('from')) > 0,
    );
    await page.goBack();
    const counted = () =>
      page.evaluate(`fetch('/trpc/charts.dimensions?input={"spaceId":"${spaceId}"}')
      .then((answer) => answer.json()).then(({ result }) => result.data[0].counted)`);
    await until(async () => (await counted()) === 1);
    await page.goto(`/s/${spaceId}/charts?last=24h`);
    const name = 'mistral-large-latest';
    await page.getByRole('button', { name: `Split ${name}` }).click();
    await page.getByRole('menuitem', { name: 'By user' }).click();
    await page.waitForURL((url) => url.search === `?last=24h&type=llm&name=${name}&by=user`);
    const own = events.filter(({ properties: { llm } }) => llm?.model === name);
    const [
      {
        context: { userId: user = '' },
      } = { context: {} },
    ] = own;
    const count = own.filter(({ context }) => context.userId === user).length;
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: user, exact: true }) });
    await row
      .getByRole('cell', { name: String(count), exact: true })
      .first()
      .waitFor();
    await row.getByRole('cell', { name: /^\$/ }).waitFor();

    await page.goto(`/s/${spaceId}/usage`);
    await page.getByRole('combobox', { name: 'Usage by' }).selectOption('By user');
    await page.waitForURL((url) => url.searchParams.get('by') === 'user');
    const all = events.filter(({ context }) => context.userId === user).length;
    await row
      .getByRole('cell', { name: String(all), exact: true })
      .first()
      .waitFor();
    await row.getByRole('cell', { name: /%$/ }).first().waitFor();
  });
}
