import AxeBuilder from '@axe-core/playwright';
import { expect, test } from 'vitest';
import { demoEvents } from '../support/browser/demo-events.ts';
import { passwordOfTests, useBrowser } from '../support/browser/use-browser.ts';
import { until } from '../support/wait.ts';

const system = useBrowser();

test('a deep link works after signing in, and signing out hides all data', async () => {
  await using owner = await system.visit();
  await using visitor = await system.visitSignedOut();
  const { page } = visitor;
  await page.goto(`/s/${owner.spaceId}/usage`);
  await page.getByLabel('E-mail address').fill(owner.email);
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('The e-mail or the password is wrong.').waitFor();
  await page.getByLabel('Password').fill(passwordOfTests);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Usage & plan' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/s/${owner.spaceId}/usage`);

  await page.getByRole('button', { name: 'Theme and sign out' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Weir' }).waitFor();
  await page.goto(`/s/${owner.spaceId}/usage`);
  await page.getByRole('heading', { name: 'Sign in to Weir' }).waitFor();
});

test('the page of a new space waits and becomes the overview when the first event arrives', async () => {
  await using visitor = await system.visit();
  const { page, apiKey } = visitor;
  await page.getByText('Waiting for the first event').waitFor();
  await page.getByRole('tab', { name: 'Python' }).click();
  const paste = page.getByRole('tabpanel').locator('pre');
  await paste.getByText(`export WEIR_URL=${system.pipeline.url}`).waitFor();
  // The commands come from the client's README, whose own test runs them.
  await paste.getByText('.venv/bin/pip install --requirement requirements.txt').waitFor();
  await system.send(apiKey, demoEvents().slice(0, 3));
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
});

test('a failing tool call can be filtered, peeked at, opened and stepped from, with all state in the address', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const events = demoEvents();
  const failed = events.filter(({ type, status }) => type === 'tool' && status.state === 'error');
  expect(failed.length).toBeGreaterThan(2);
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();

  await page.goto(`/s/${spaceId}/events?type=tool&state=error`);
  const rows = page.getByRole('row', { selected: false });
  await rows.first().waitFor();
  expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(failed.length + 1));
  // j moves within the filtered list.
  await page.keyboard.press('j');
  await page.getByRole('complementary', { name: 'Selected event' }).waitFor();
  await page.keyboard.press('j');
  const newestFirst = failed.toSorted((a, b) => b.startTimeMs - a.startTimeMs);
  await page.waitForURL((url) => url.searchParams.get('peek') === newestFirst[1]?.id);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/events/${newestFirst[1]?.id}?**`);
  await page.getByRole('tab', { name: 'Conversation', selected: true }).waitFor();
  await page.getByRole('button', { name: 'Earlier event ([)', disabled: false }).waitFor();
  await page.keyboard.press('[');
  await page.waitForURL(`**/events/${newestFirst[2]?.id}?**`);
  expect(new URL(page.url()).searchParams.get('state')).toBe('error');
});

test('a failing tool call is found among many events by typing, and links to its trace', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const wanted = demoEvents();
  const failed = wanted.find(({ type, status }) => type === 'tool' && status.state === 'error');
  if (failed === undefined) throw new Error('no tool of the sample fails');
  failed.status.error = { code: 'calendar_locked', httpStatus: 423, message: 'somebody else holds the lock' };
  for (let batch = 0; batch < 15; batch++) await system.send(apiKey, demoEvents());
  await system.send(apiKey, wanted);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();

  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await page.waitForURL(`**/s/${spaceId}/events`);
  // Waits for the address: until the events page is loaded, the overview, which has rows too, is shown.
  await page.getByLabel('Search in previews').waitFor();
  await page.getByRole('row').nth(5).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('type:tool state:error error:calendar_locked');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.searchParams.get('errorCode') === 'calendar_locked');
  await page.locator('[role=grid][aria-rowcount="2"]').waitFor();
  // Leaves the field, in which j would be typed.
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  const peek = page.getByRole('complementary', { name: 'Selected event' });
  await peek.getByText('Error: code calendar_locked, HTTP 423').waitFor();
  await peek.getByRole('link', { name: 'Open trace' }).click();
  const own = wanted.filter(({ traceId }) => traceId === failed.traceId);
  await page.locator(`[role=grid][aria-rowcount="${own.length + 1}"]`).waitFor();
  await page.keyboard.press('e');
  await page.waitForURL((url) => url.searchParams.get('peek') === failed.id);
  await peek.getByText('somebody else holds the lock').waitFor();
});

test('the search field completes fields and values, asks about a wrong field, and compares numbers', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const events = demoEvents();
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/events`);
  const grid = page.getByRole('grid');
  await grid.waitFor();
  await page.keyboard.press('/');
  const field = page.getByRole('combobox', { name: /Search in previews/ });
  await field.pressSequentially('mod');
  await page.getByRole('option', { name: 'model:' }).waitFor();
  const { violations } = await new AxeBuilder({ page }).include('search').analyze();
  expect(violations).toEqual([]);
  // Tab completes, the arrows choose a value of the space, Enter takes it and then searches.
  await page.keyboard.press('Tab');
  const option = page.getByRole('option', { name: 'mistral-large-latest' });
  await option.waitFor();
  while ((await option.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await field.inputValue()).toBe('model:mistral-large-latest ');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.searchParams.get('name') === 'mistral-large-latest');
  await page.getByRole('button', { name: 'Clear', exact: true }).click();

  await field.fill('usr:cus');
  await page.keyboard.press('Enter');
  await page.getByText('There is no field “usr”. Did you mean user:?').waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.getByRole('button', { name: 'Search user:' }).click();
  await page.waitForURL((url) => url.searchParams.get('userId') === 'cus');
  await page.getByRole('button', { name: 'Clear', exact: true }).click();

  const slow = events.filter(({ durationMs }) => durationMs > 2_000);
  expect(slow.length).toBeGreaterThan(0);
  await field.fill('took:>2s');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Remove: Duration >2s' }).waitFor();
  await until(async () => (await grid.getAttribute('aria-rowcount')) === String(slow.length + 1));
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  // Costs are compared in a range, at list prices.
  await field.fill('cost:>0.0001');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.searchParams.get('last') === '30d');
  await grid.getByRole('row').nth(1).waitFor();
  await field.fill('cost:cheap');
  await page.keyboard.press('Enter');
  await page.getByText(/“cheap” is no comparison/).waitFor();
});

test('an empty range leads to the newest event, and days and ranges of the own time zone can be chosen', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const nowMs = Date.now() - 20 * 86_400_000;
  const events = demoEvents(nowMs);
  await system.send(apiKey, events);
  await page.getByText(/The newest event started on/).waitFor();
  await page.getByRole('button', { name: 'Show the day up to it' }).click();
  await page.waitForURL((url) => Number(url.searchParams.get('to')) >= nowMs - 60_000);
  await page.getByText(/^[1-9]\d* events?, \d+ errors?; at most/).waitFor();
  // By keyboard: the last two bars, without the pointer. The overview keeps the range.
  const bars = page.getByRole('slider', { name: /Events over time/ });
  await bars.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => {
    const [from, to] = ['from', 'to'].map((name) => Number(url.searchParams.get(name)));
    return url.pathname === `/s/${spaceId}` && (to ?? 0) - (from ?? 0) === 2 * 3_600_000;
  });

  for (const [path, what] of [
    ['threads', 'thread was last active'],
    ['users', 'user was last active'],
    ['events', 'event started'],
    ['charts', 'event started'],
  ]) {
    await page.goto(`/s/${spaceId}/${path}?last=yesterday`);
    await page.getByText(`The newest ${what} on`).waitFor();
  }
  await page.goto(`/s/${spaceId}/users?last=yesterday`);
  await page.getByRole('button', { name: 'Show the day up to it' }).click();
  await page.getByRole('table', { name: 'Users' }).getByRole('row').nth(1).waitFor();
  await page.goto(`/s/${spaceId}/charts?last=yesterday`);
  const range = page.getByRole('combobox', { name: 'Time range' });
  expect(await range.inputValue()).toBe('yesterday');
  await range.selectOption('custom');
  const dialog = page.getByRole('dialog', { name: 'Custom range' });
  await dialog.getByLabel('From').fill('2026-01-02T10:00');
  await dialog.getByLabel('To').fill('2026-01-02T09:00');
  await dialog.getByText('The end must be after the start.').waitFor();
  await dialog.getByLabel('To').fill('2026-01-02T12:30');
  await dialog.getByRole('button', { name: 'Show' }).click();
  // Times of Zurich, the zone of the browser.
  await page.waitForURL((url) => url.searchParams.get('from') === String(Date.UTC(2026, 0, 2, 9)));
  expect(new URL(page.url()).searchParams.get('to')).toBe(String(Date.UTC(2026, 0, 2, 11, 30)));
});

test('users are listed with their events, and the link to the events keeps the time range', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const events = demoEvents();
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/users`);
  await page.getByRole('combobox', { name: 'Time range' }).selectOption('7d');
  const [user = ''] = events.map(({ context }) => context.userId ?? '');
  const count = events.filter(({ context }) => context.userId === user).length;
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: user, exact: true }) });
  await row.getByRole('cell', { name: String(count), exact: true }).waitFor();
  await row.getByRole('link').click();
  await page.waitForURL(`**/users/${user}?last=7d`);
  await page.getByRole('table', { name: `Threads of ${user}` }).waitFor();
  await page.getByRole('link', { name: 'Show events' }).click();
  await page.waitForURL(`**/events?last=7d&userId=${user}`);
  await page.locator(`[role=grid][aria-rowcount="${count + 1}"]`).waitFor();
});

test('the most expensive events come first, and events of any lists can be ticked and compared', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const events = demoEvents();
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/events`);
  const cost = page.getByRole('columnheader', { name: 'Cost' });
  await cost.getByRole('button').click();
  await page.waitForURL((url) => url.searchParams.get('sort') === 'cost');
  await page.getByText(new RegExp(`most expensive of all ${events.length} events`)).waitFor();
  expect(await cost.getAttribute('aria-sort')).toBe('descending');

  // After the titles of the columns.
  const row = page.getByRole('row').nth(1);
  await row.getByRole('checkbox').check();
  const bar = page.getByRole('region', { name: 'Events to compare' });
  await bar.getByText('Tick another event').waitFor();
  await row.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Open trace' }).click();
  await page
    .getByRole('grid', { name: 'Events of the trace' })
    .getByRole('checkbox', { checked: false })
    .first()
    .check();
  await bar.getByRole('link', { name: 'Compare' }).click();
  await page.waitForURL((url) => url.searchParams.has('a') && url.searchParams.has('b'));
  await page.getByRole('tabpanel').getByRole('status').waitFor();
  await bar.waitFor({ state: 'detached' });
});

test('names open what they name, errors are counted by message, and a conversation in a prompt is drawn as one', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const events = demoEvents();
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Where is my bike?' },
  ];
  const [call] = events.filter(({ type }) => type === 'llm');
  if (call?.properties.llm === undefined) throw new Error('the sample has no call of a model');
  const { model } = call.properties.llm;
  call.properties.llm = { model, input: { prompt: JSON.stringify(messages) }, output: { response: 'Here.' } };
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();

  const failed = events.filter(({ status }) => status.state === 'error');
  const [error] = failed;
  const same = failed.filter(({ status }) => status.error?.message === error?.status.error?.message);
  await page.goto(`/s/${spaceId}?last=7d`);
  const group = page
    .getByRole('table', { name: 'Errors by message' })
    .getByRole('row')
    .filter({ hasText: error?.status.error?.message ?? '' });
  await group.getByRole('link', { name: String(same.length), exact: true }).click();
  await page.waitForURL((url) => url.searchParams.get('state') === 'error');
  await page.locator(`[role=grid][aria-rowcount="${same.length + 1}"]`).waitFor();

  await page.goto(`/s/${spaceId}/events/${call.id}`);
  const prompt = page.getByRole('region', { name: 'Prompt' });
  await prompt.getByText('The prompt is a conversation of 2 messages.').waitFor();
  await prompt.getByRole('region', { name: 'User' }).getByText('Where is my bike?').waitFor();
  await page.getByRole('button', { name: `Only events with User ${call.context.userId}` }).click();
  await page.waitForURL(`**/events?userId=${call.context.userId}`);
  await page.goBack();
  await page.getByRole('link', { name: `Charts of ${model}` }).click();
  await page.getByRole('heading', { name: `Charts of ${model}` }).waitFor();
  await page.getByRole('list').getByRole('link', { name: 'OK' }).first().click();
  await page.waitForURL((url) => url.pathname.endsWith('/events') && url.searchParams.get('name') === model);
});

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

test('Ctrl-K opens pages, and finds the object with an id', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  const events = demoEvents();
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  const field = page.getByRole('combobox', { name: 'Page, space, or id' });

  await page.keyboard.press('Control+k');
  await field.fill('plan');
  await page.getByRole('option', { name: 'Usage & plan' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/s/${spaceId}/usage`);
  await field.waitFor({ state: 'detached' });

  const [event] = events;
  for (const [id, hint, address] of [
    [event?.id, 'event', `/s/${spaceId}/events/${event?.id}`],
    [event?.context.userId, 'user', `/s/${spaceId}/users/${event?.context.userId}`],
    [event?.context.threadId, 'thread', `/s/${spaceId}/threads/${event?.context.threadId}`],
    [event?.traceId, 'trace', `/s/${spaceId}/traces/${event?.traceId}`],
  ] as const) {
    await page.keyboard.press('Control+k');
    await field.fill(`  ${id} `);
    await page.getByRole('option', { name: `${id} ${hint}`, exact: true }).click();
    await page.waitForURL((url) => url.pathname + url.search === address);
  }
  await page.keyboard.press('Control+k');
  await field.fill(crypto.randomUUID());
  await page.getByText('nothing in this space has this id').waitFor();
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
});
