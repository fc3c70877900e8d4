import { measureTasks } from './cpu-tasks.ts';
import { middle, type WebFigure } from './figure.ts';
import { tracedName } from './fill.ts';
import { measureMotion } from './frames.ts';
import { motionFigures } from './motion-figures.ts';
import { rowSelector } from './pages.ts';
import { measureInputs, timeClick } from './timing.ts';
import { inWindow, type WebBench } from './window.ts';

const times = 5;
const wheelTurns = 120;
const wheelPx = 200;

/** Opens, scrolls and zooms a trace of 5,000 events. */
export async function measureTrace(bench: WebBench): Promise<WebFigure[]> {
  const { spaceId } = bench.connection;
  return await inWindow(bench, async (page) => {
    const opens: { shownMs: number; longestTaskMs: number; longestCpuMs: number }[] = [];
    const grid = page.getByRole('grid', { name: 'Events of the trace' });
    for (let i = 0; i < times; i++) {
      await page.goto(`/s/${spaceId}/events?name=${tracedName}`);
      await page.locator(rowSelector).dblclick({ position: { x: 40, y: 10 } });
      const link = page.getByRole('link', { name: 'Open trace' });
      await link.waitFor();
      const { result, longestCpuMs } = await measureTasks(bench.browser, () =>
        timeClick(page, link, '[aria-label="Events of the trace"] [role=row]'),
      );
      opens.push({ ...result, longestCpuMs });
    }
    const rows = await grid.getByRole('row').count();
    await grid.hover();
    const scrolled = await measureMotion(page, async () => {
      for (let i = 0; i < wheelTurns; i++) await page.mouse.wheel(0, wheelPx);
    });
    const box = await page.locator('canvas').boundingBox();
    if (box === null) throw new Error('the trace has no minimap');
    const zoomMs = await measureInputs(page, async () => {
      for (const [from, to] of [
        [0.2, 0.6],
        [0.3, 0.5],
        [0.4, 0.9],
      ] as const) {
        await page.mouse.move(box.x + box.width * from, box.y + 20);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * to, box.y + 20, { steps: 10 });
        await page.mouse.up();
        await page.getByRole('button', { name: 'Whole trace' }).click();
      }
    });
    return [
      {
        name: 'a trace of 5,000 events: open',
        value: middle(opens.map(({ shownMs }) => shownMs)),
        limit: 500,
        unit: 'ms',
      },
      { name: '  longest task', value: middle(opens.map(({ longestTaskMs }) => longestTaskMs)), unit: 'ms' },
      {
        name: '    its CPU time',
        value: middle(opens.map(({ longestCpuMs }) => longestCpuMs)),
        limit: 50,
        unit: 'ms',
      },
      { name: '  rows in the page', value: rows, limit: 60, unit: '' },
      ...motionFigures('  scrolls', scrolled),
      { name: '  zoom: latency (INP)', value: zoomMs, limit: 200, unit: 'ms' },
    ];
  });
}
