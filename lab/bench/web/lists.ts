import type { WebFigure } from './figure.ts';
import { measureMotion } from './frames.ts';
import { motionFigures } from './motion-figures.ts';
import { rowSelector } from './pages.ts';
import { measureInputs } from './timing.ts';
import { inWindow, type WebBench } from './window.ts';

/** Wheel events, and the pixels of each: enough to scroll through several pages of the list. */
const wheelTurns = 120;
const wheelPx = 150;
/** A good latency of inputs, by the definition of Core Web Vitals. */
const inputLimitMs = 200;

/** Measures scrolling in the list, and its latency of inputs. */
export async function measureLists(bench: WebBench): Promise<WebFigure[]> {
  const { spaceId } = bench.connection;
  return await inWindow(bench, async (page) => {
    await page.goto(`/s/${spaceId}/events`);
    await page.locator(rowSelector).waitFor();
    const grid = page.getByRole('grid', { name: 'Events' });
    await grid.hover();
    const motion = await measureMotion(page, async () => {
      for (let i = 0; i < wheelTurns; i++) await page.mouse.wheel(0, wheelPx);
    });
    const field = page.getByLabel('Search events, or filter by field:value');
    const inputMs = await measureInputs(page, async () => {
      await field.click();
      await page.keyboard.type('type:tool');
      await page.keyboard.press('Enter');
      await page.getByRole('list', { name: 'Filters' }).getByText('tool').waitFor();
      await page.locator(rowSelector).waitFor();
      await grid
        .getByRole('button', { name: /-thread$/ })
        .first()
        .click();
      await page
        .getByRole('list', { name: 'Filters' })
        .getByText(/-thread$/)
        .waitFor();
      await page.locator(rowSelector).waitFor();
      for (const key of ['Escape', 'j', 'j', 'k']) await page.keyboard.press(key);
      await page.getByRole('complementary', { name: 'Selected event' }).waitFor();
    });
    return [
      ...motionFigures('the list scrolls', motion),
      {
        name: 'filters and keys of the list: latency (INP)',
        value: inputMs,
        limit: inputLimitMs,
        unit: 'ms',
      },
    ];
  });
}
