import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser/use-browser.ts';
import { toolEvent } from './complaints/sent-event.ts';

const system = useBrowser();

test('a trace can be zoomed by dragging over its map or by keyboard, and the zoom is in the address', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const traceId = crypto.randomUUID();
  const fromMs = Date.now() - 60_000;
  const events = Array.from({ length: 40 }, (_, i) =>
    toolEvent({
      traceId,
      startTimeMs: fromMs + i * 1_000,
      endTimeMs: fromMs + i * 1_000 + 500,
      durationMs: 500,
      properties: { tool: { name: `step ${i}`, input: {} } },
    }),
  );
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/traces/${traceId}`);
  const grid = page.getByRole('grid', { name: 'Events of the trace' });
  // The header of its lane, and the events.
  const rowCount = () => grid.getAttribute('aria-rowcount');
  await grid.waitFor();
  expect(await rowCount()).toBe('41');

  const map = await page.locator('canvas').boundingBox();
  if (map === null) throw new Error('the trace has no map');
  await page.mouse.move(map.x + map.width * 0.25, map.y + 20);
  await page.mouse.down();
  await page.mouse.move(map.x + map.width * 0.5, map.y + 20, { steps: 3 });
  await page.mouse.up();
  const whole = page.getByRole('button', { name: 'Whole trace' });
  await whole.waitFor();
  const zoomed = Number(await rowCount());
  expect(zoomed).toBeGreaterThan(8);
  expect(zoomed).toBeLessThan(15);
  await grid.getByText('step 15', { exact: true }).waitFor();
  expect(await grid.getByText('step 0', { exact: true }).count()).toBe(0);
  await page.reload();
  await whole.waitFor();
  expect(await rowCount()).toBe(String(zoomed));

  await page.keyboard.press('+');
  await expect.poll(async () => Number(await rowCount())).toBeLessThan(zoomed);
  await page.keyboard.press('-');
  await whole.waitFor({ state: 'detached' });
  expect(await rowCount()).toBe('41');
  // A click still selects the nearest event.
  await page.mouse.click(map.x + 1, map.y + 20);
  await page.waitForURL((url) => url.searchParams.get('peek') === events[0]?.id);

  // Without room beside each other, the opened event stands below the tree, whose lane stays named when it is
  // scrolled.
  await page.setViewportSize({ width: 900, height: 760 });
  const opened = page.getByRole('complementary', { name: 'Selected event' });
  await expect
    .poll(async () => {
      const [tree, event] = await Promise.all([grid.boundingBox(), opened.boundingBox()]);
      return tree !== null && event !== null && tree.height > 100 && tree.y + tree.height <= event.y;
    })
    .toBe(true);
  await grid.hover();
  await page.mouse.wheel(0, 500);
  await grid.getByText('step 20', { exact: true }).waitFor();
  await grid.locator('[aria-hidden]').getByText('No agent or thread').waitFor();
});
