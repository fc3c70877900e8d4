import type { Page } from 'playwright-core';
import { measureTasks } from './cpu-tasks.ts';
import { middle, type WebFigure } from './figure.ts';
import { firstWords, largeName } from './fill.ts';
import { timeClick, timeNavigation } from './timing.ts';
import { inWindow, type WebBench } from './window.ts';

/** Measurements per figure; the median is reported. */
const times = 7;
const throttle = 4;

export const rowSelector = '[role=grid] [role=row][aria-rowindex="2"]';

/** Measures a cold start with a throttled CPU, and the usual navigations. */
export async function measurePages(bench: WebBench): Promise<WebFigure[]> {
  const { spaceId } = bench.connection;
  const cold: Awaited<ReturnType<typeof timeNavigation>>[] = [];
  for (let i = 0; i < times; i++) {
    const time = await inWindow(bench, async (page) => {
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: throttle });
      return await timeNavigation(page, `/s/${spaceId}/events`, rowSelector);
    });
    cold.push(time);
  }
  return [
    {
      name: `cold, ${throttle} × CPU throttle: interactive`,
      value: middle(cold.map(({ interactiveMs }) => interactiveMs)),
      limit: 1_500,
      unit: 'ms',
    },
    { name: '  first rows', value: middle(cold.map(({ shownMs }) => shownMs)), unit: 'ms' },
    ...(await inWindow(bench, (page) => measureWarm(bench, page))),
  ];
}

/** Measures in a window that has loaded the code of the pages. */
async function measureWarm({ browser, connection: { spaceId } }: WebBench, page: Page): Promise<WebFigure[]> {
  const link = (name: string) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });
  const title = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const recent = page.getByRole('table', { name: 'Recent events' });
  await page.goto(`/s/${spaceId}/usage`);
  for (const name of ['Events', 'Overview', 'Usage & plan']) {
    await link(name).click();
    await title(name);
  }
  const routes: number[] = [];
  const lists: number[] = [];
  const events: { shownMs: number; longestTaskMs: number; longestCpuMs: number }[] = [];
  let domRows = 0;
  for (let i = 0; i < times; i++) {
    await link('Overview').click();
    await recent.waitFor();
    routes.push(
      (await timeClick(page, link('Usage & plan'), 'a[aria-current=page][href$="/usage"]')).shownMs,
    );
    await title('Usage & plan');
    // Loads a new document, so that the list is not in the query cache.
    await page.goto(`/s/${spaceId}/usage`);
    await title('Usage & plan');
    lists.push((await timeClick(page, link('Events'), rowSelector)).shownMs);
    domRows = Math.max(domRows, await page.locator('[role=grid] [role=row]').count());
    await page.goto(`/s/${spaceId}`);
    const large = recent.getByRole('link', { name: largeName, exact: true }).first();
    const { result, longestCpuMs } = await measureTasks(browser, () =>
      timeClick(page, large, '[role=tabpanel] section h2'),
    );
    events.push({ ...result, longestCpuMs });
    await page.getByText(firstWords).first().waitFor();
  }
  return [
    { name: 'a route change', value: middle(routes), limit: 100, unit: 'ms' },
    { name: 'the list: first rows', value: middle(lists), limit: 150, unit: 'ms' },
    { name: '  rows in the page', value: domRows, limit: 60, unit: '' },
    {
      name: 'an event of 4 MB: visible',
      value: middle(events.map(({ shownMs }) => shownMs)),
      limit: 300,
      unit: 'ms',
    },
    {
      name: '  longest task',
      value: middle(events.map(({ longestTaskMs }) => longestTaskMs)),
      limit: 50,
      unit: 'ms',
    },
    {
      name: '    its CPU time',
      value: middle(events.map(({ longestCpuMs }) => longestCpuMs)),
      limit: 50,
      unit: 'ms',
    },
  ];
}
