import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { demoEvents } from '../support/browser/demo-events.ts';
import { useBrowser } from '../support/browser/use-browser.ts';

const system = useBrowser();

test('g followed by a key opens a page, takes precedence over that key alone, and can be turned off', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  await system.send(apiKey, demoEvents());
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard' });
  await help.getByText('Audit log').waitFor();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });

  await page.goto(`/s/${spaceId}/events`);
  await page.getByRole('row').nth(3).waitFor();
  // Without g, k selects an event of this list.
  await page.keyboard.press('g');
  await page.keyboard.press('k');
  await page.waitForURL(`**/s/${spaceId}/settings/api-keys`);
  await page.keyboard.press('g');
  await page.keyboard.press('u');
  await page.waitForURL(`**/s/${spaceId}/usage`);

  await page.goto(`/s/${spaceId}/profile`);
  await page.getByRole('checkbox', { name: /Single-key/ }).uncheck();
  await page.keyboard.press('g');
  await page.keyboard.press('u');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Page, space, or id' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/s/${spaceId}/profile`);
});

test('the events of a filter and the bytes of one event can be downloaded', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const events = demoEvents();
  const tools = events.filter(({ type }) => type === 'tool');
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/events?type=tool`);
  await page.getByRole('row').nth(1).waitFor();
  const exported = async (name: string) => {
    await page.getByRole('button', { name: 'Export' }).click();
    return download(page, () => page.getByRole('menuitem', { name }).click());
  };
  const [head, ...rows] = (await exported('Columns, CSV')).trimEnd().split('\r\n');
  // With a byte order mark, for Excel.
  expect(head).toMatch(/^\uFEFFid,type,/);
  expect(rows.map((row) => row.split(',', 1)[0]).sort()).toEqual(tools.map(({ id }) => id).sort());
  const lines = (await exported('Events as sent, NDJSON')).trimEnd().split('\n');
  expect(lines.at(-1)).toBe(JSON.stringify({ exportedRows: tools.length }));

  const [first] = tools;
  await page.goto(`/s/${spaceId}/events/${first?.id}`);
  const text = await download(page, () => page.getByRole('link', { name: 'Download' }).click());
  expect(text).toBe(JSON.stringify(first));
});

test('no call of the pages has a user id or a searched text in its address', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  await system.send(apiKey, demoEvents());
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  const addresses: string[] = [];
  const marks = ['personal-id', 'searched-text'];
  page.on('request', (request) => request.isNavigationRequest() || addresses.push(request.url()));
  const query = `?userId=${marks[0]}&text=${marks[1]}`;
  await page.goto(`/s/${spaceId}/events${query}`);
  await page.getByText('0 events found').waitFor();
  await page.goto(`/s/${spaceId}/events?userId=${marks[0]}`);
  await page.getByRole('button', { name: 'Export' }).click();
  const csv = await download(page, () => page.getByRole('menuitem', { name: 'Columns, CSV' }).click());
  expect(csv.trimEnd().split('\r\n')).toHaveLength(1);
  const streamed = page.waitForRequest(/live\.tail/);
  await page.goto(`/s/${spaceId}/live${query}`);
  await streamed;
  await page.goto(`/s/${spaceId}/users?search=${marks[0]}`);
  await page.getByRole('heading', { name: 'Users' }).waitFor();
  expect(addresses.length).toBeGreaterThan(10);
  expect(addresses.filter((address) => marks.some((mark) => address.includes(mark)))).toEqual([]);
});

test('an event opened from a trace has links to the previous and next event of the trace', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const events = demoEvents();
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  const traceId = events[0]?.traceId;
  const ofTrace = events
    .filter((event) => event.traceId === traceId)
    .sort((a, b) => a.startTimeMs - b.startTimeMs);
  const last = ofTrace.at(-1);
  expect(ofTrace.length).toBeGreaterThan(2);
  await page.goto(`/s/${spaceId}/traces/${traceId}?peek=${last?.id}`);
  await page.getByRole('link', { name: 'Open', exact: true }).click();
  await page.waitForURL(`**/events/${last?.id}?traceId=${traceId}`);
  await page.getByRole('button', { name: 'Earlier event ([)', disabled: false }).waitFor();
  // Other traces have events between these.
  expect(await page.getByRole('button', { name: 'Later event (])' }).isDisabled()).toBe(true);
  await page.keyboard.press('[');
  await page.waitForURL(`**/events/${ofTrace.at(-2)?.id}?traceId=${traceId}`);
});

test('an owner can rename the space and create another one', async () => {
  await using visitor = await system.visit();
  const { page, spaceId } = visitor;
  const switcher = page.getByRole('button', { name: /^Space/ });
  const name = page.getByRole('dialog').getByLabel('Name');
  await switcher.click();
  await page.getByRole('menuitem', { name: 'Rename this space' }).click();
  await name.fill('Bike shop');
  await page.getByRole('button', { name: 'Rename' }).click();
  await switcher.getByText('Bike shop').waitFor();

  await switcher.click();
  await page.getByRole('menuitem', { name: 'New space' }).click();
  await name.fill('Staging');
  await page.getByRole('button', { name: 'Create' }).click();
  await switcher.getByText('Staging').waitFor();
  await page.getByText('Waiting for the first event').waitFor();
  expect(new URL(page.url()).pathname).not.toContain(spaceId);
});

/** The text of the file that an action downloads. */
async function download(page: Page, act: () => Promise<void>): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), act()]);
  return readFile(await file.path(), 'utf8');
}
