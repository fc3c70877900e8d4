import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openIngestClient } from '../../../lib/client/ingest-client.ts';
import { openPostgres } from '../../../lib/db/connect.ts';
import { openDatabase } from '../../../lib/db/database.ts';
import type { Connection } from '../../../lib/local-system.ts';
import { openChromium } from '../../browser/chromium.ts';
import { llmEvent } from '../../fixtures/events.ts';
import type { RunningWeir } from '../../system/weir.ts';
import { until } from '../../wait.ts';
import { growSpace } from '../filters/growth.ts';
import { timeClick, timeNavigation } from './timing.ts';

/** Each figure is the median of so many measurements. */
const times = 7;
const throttle = 4;
/** The contract's limit of a request is 4 MiB. */
const largeChars = 4_100_000;
const largeName = 'large';
const firstWords = 'The first words';

const rowSelector = '[role=grid] [role=row][aria-rowindex="2"]';

export interface WebFigure {
  name: string;
  value: number;
  limit: number;
  unit: string;
}

/** Measures the pages in a browser, in a space with so many events. @returns a table with the limits. */
export async function measureWeb(
  { connection }: RunningWeir,
  { rows, say }: { rows: number; say: (text: string) => void },
): Promise<string> {
  await fill(connection, rows, say);
  await using stack = new AsyncDisposableStack();
  const browser = stack.adopt(await openChromium(), (one) => one.close());
  const { spaceId } = connection;
  say('measuring …');
  const cold = await median(() =>
    inWindow(browser, connection, async (page) => {
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: throttle });
      return await timeNavigation(page, `/s/${spaceId}/events`, rowSelector);
    }),
  );
  const warm = await inWindow(browser, connection, async (page) => await measureWarm(page, spaceId));
  return [
    { name: `cold, ${throttle} × CPU throttle: first rows`, value: cold, limit: 1_500, unit: 'ms' },
    ...warm,
  ]
    .map(renderFigure)
    .join('\n');
}

/** Measures navigation with a warm cache: the code of every page is loaded before. */
async function measureWarm(page: Page, spaceId: string): Promise<WebFigure[]> {
  const link = (name: string) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });
  const titled = async (title: string) => {
    // Not waitForFunction: it needs eval, which the pages do not allow.
    await page.evaluate(`new Promise((resolve) => {
      const look = () =>
        document.title.startsWith(${JSON.stringify(title)}) ? resolve() : setTimeout(look, 10);
      look();
    })`);
  };
  await page.goto(`/s/${spaceId}/usage`);
  await titled('Usage');
  // Loads the code of each page.
  for (const name of ['Events', 'Overview', 'Usage & plan']) {
    await link(name).click();
    await titled(name);
  }
  const routes: number[] = [];
  const lists: number[] = [];
  const larges: number[] = [];
  const tasks: number[] = [];
  let domRows = 0;
  for (let i = 0; i < times; i++) {
    await link('Overview').click();
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    routes.push(
      (await timeClick(page, link('Usage & plan'), 'a[aria-current=page][href$="/usage"]')).shownMs,
    );
    await titled('Usage');
    // A new document starts with an empty query cache.
    await page.goto(`/s/${spaceId}/usage`);
    lists.push((await timeClick(page, link('Events'), rowSelector)).shownMs);
    domRows = Math.max(domRows, await page.locator('[role=grid] [role=row]').count());
    await page.goto(`/s/${spaceId}`);
    const large = page.getByRole('table').getByRole('link', { name: largeName, exact: true }).first();
    const { shownMs, longestTaskMs } = await timeClick(page, large, '[role=tabpanel] h3');
    await page.getByText(firstWords).first().waitFor();
    larges.push(shownMs);
    tasks.push(longestTaskMs);
  }
  return [
    { name: 'a route change', value: middle(routes), limit: 100, unit: 'ms' },
    { name: 'the list: first rows', value: middle(lists), limit: 150, unit: 'ms' },
    { name: '  rows in the page', value: domRows, limit: 60, unit: '' },
    { name: 'an event of 4 MB: visible', value: middle(larges), limit: 300, unit: 'ms' },
    { name: '  longest task', value: middle(tasks), limit: 50, unit: 'ms' },
  ];
}

/** Runs a measurement in a new signed-in window with an empty cache. */
async function inWindow<Result>(
  browser: Browser,
  { dashboardUrl, email, password }: Connection,
  run: (page: Page) => Promise<Result>,
): Promise<Result> {
  const context: BrowserContext = await browser.newContext({ baseURL: dashboardUrl });
  try {
    const answer = await context.request.post('/trpc/auth.signIn', { data: { email, password } });
    if (!answer.ok()) throw new Error(`signing in failed: ${await answer.text()}`);
    return await run(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Stores many small events, and a newest one of 4 MB. */
async function fill(connection: Connection, rows: number, say: (text: string) => void): Promise<void> {
  const { databaseUrl, spaceId, ingestUrl: url, apiKey } = connection;
  const options = { applicationName: 'weir-bench', connectionsMax: 4, statementTimeoutMs: 0 };
  await using sql = openPostgres(databaseUrl, options);
  await growSpace(openDatabase(sql), spaceId, { rows, nowMs: Date.now(), say });
  const id = randomUUID();
  const endTimeMs = Date.now() + 60_000;
  const prompt = `${firstWords} ${'x'.repeat(largeChars)}`;
  const event = llmEvent({
    id,
    startTimeMs: endTimeMs - 10,
    endTimeMs,
    durationMs: 10,
    properties: { llm: { model: largeName, input: { prompt }, output: { response: 'ok' }, usage: {} } },
  });
  await using client = openIngestClient({ url, apiKey, connections: 1, timeoutMs: 30_000 });
  await client.post(Buffer.from(JSON.stringify({ events: [event] })));
  await until(async () => {
    const [row] = await sql`SELECT 1 FROM events WHERE space_id = ${spaceId} AND id = ${id}`;
    return row !== undefined;
  }, 30_000);
}

async function median(measure: () => Promise<number>): Promise<number> {
  const results: number[] = [];
  for (let i = 0; i < times; i++) results.push(await measure());
  return middle(results);
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function renderFigure({ name, value, limit, unit }: WebFigure): string {
  const missed = value > limit ? ', MISSED' : '';
  return `${name.padEnd(44)}${`${Math.round(value)} ${unit}`.padEnd(12)}limit ${limit} ${unit}${missed}`.trimEnd();
}
