import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startOnFreePorts } from '../../launcher/provision/ports.ts';
import { builtWeb } from '../support/browser/built-web.ts';
import { demoEvents } from '../support/browser/demo-events.ts';
import { makeOperator } from '../support/browser/furnished-space.ts';
import { shownPages } from '../support/browser/shown-pages.ts';
import { useBrowser } from '../support/browser/use-browser.ts';
import { openService } from '../support/service.ts';
import { untilDrained } from '../support/wait.ts';

const system = useBrowser();

test('a page whose session has ended offers to sign in, and returns to the same address', async () => {
  await using visitor = await system.visit();
  const { page, context, apiKey, spaceId, email, password } = visitor;
  await system.send(apiKey, demoEvents());
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/events?type=tool`);
  await page.getByRole('row').nth(1).waitFor();
  await context.clearCookies();
  await page.keyboard.press('j');
  const peek = page.getByRole('complementary', { name: 'Selected event' });
  await peek.getByText('Your session has ended').waitFor();
  const address = page.url();
  expect(address).toContain('type=tool&peek=');
  await peek.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await peek.getByText('Started').waitFor();
  expect(page.url()).toBe(address);
});

test('a form submitted after the session has ended keeps what was typed while the user signs in again', async () => {
  await using visitor = await system.visit();
  const { page, context, spaceId, email, password } = visitor;
  await page.goto(`/s/${spaceId}/settings/api-keys`);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('late');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const opened = context.waitForEvent('page');
  await page.getByRole('dialog').getByRole('link', { name: 'Sign in' }).click();
  const other = await opened;
  await other.getByLabel('E-mail address').fill(email);
  await other.getByLabel('Password').fill(password);
  await other.getByRole('button', { name: 'Sign in' }).click();
  await other.waitForURL(`**/s/${spaceId}/settings/api-keys`);
  await other.close();
  // A click beside the dialog does not close it either.
  await page.mouse.click(5, 5);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByText(/^weir_/)
    .waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: /^Revoke late/ }).waitFor();
});

test('a member who was removed sees that the space is gone, and the way to another one', async () => {
  await using visitor = await system.visit();
  await using host = await system.visit();
  const { page, errors, email } = visitor;
  await system.pipeline.sql`
    INSERT INTO memberships (space_id, user_id, role)
    SELECT ${host.spaceId}, id, 'viewer' FROM users WHERE email = ${email}`;
  await page.goto(`/s/${host.spaceId}/threads`);
  await page.getByText('No threads').waitFor();
  await system.pipeline.sql`DELETE FROM memberships WHERE space_id = ${host.spaceId}
    AND user_id = (SELECT id FROM users WHERE email = ${email})`;
  await page.getByRole('link', { name: 'Users' }).click();
  await page.getByText('Page not found').waitFor();
  await page.getByRole('link', { name: 'Open your space' }).click();
  await page.waitForURL(`**/s/${visitor.spaceId}`);
  await page.getByRole('heading', { name: 'Send your first event' }).waitFor();
  // React reports what `useSpace` threw.
  errors.length = 0;
});

test('the live page of a member who was removed stops, and says so', async () => {
  await using visitor = await system.visit();
  await using host = await system.visit();
  const { page, email } = visitor;
  const { sql } = system.pipeline;
  await sql`INSERT INTO memberships (space_id, user_id, role)
    SELECT ${host.spaceId}, id, 'viewer' FROM users WHERE email = ${email}`;
  await page.goto(`/s/${host.spaceId}/live`);
  await page.getByText('Waiting for events').waitFor();
  await system.send(host.apiKey, demoEvents().slice(0, 1));
  await page.getByRole('grid', { name: 'Live events' }).waitFor();
  await sql`DELETE FROM memberships WHERE space_id = ${host.spaceId}
    AND user_id = (SELECT id FROM users WHERE email = ${email})`;
  await page.getByText('Stopped', { exact: true }).waitFor();
  await page.getByRole('alert').filter({ hasText: 'Not found' }).waitFor();
});

test('after a restart of the API each page shows its content, whether it was open or opened meanwhile', async () => {
  await using visitor = await system.visit();
  const { context, apiKey, spaceId, email, password } = visitor;
  const events = demoEvents();
  await system.send(apiKey, events);
  await visitor.page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await makeOperator(system, email);
  const variables = {
    ...system.pipeline.variables,
    DASHBOARD_WEB_DIR: await builtWeb(),
    INGEST_URL: system.pipeline.url,
  };
  await using first = await startOnFreePorts(1, ([port]) =>
    openService('dashboard-api', { ...variables, DASHBOARD_PORT: String(port) }),
  );
  const url = first.ready.url ?? '';
  await context.request.post(`${url}/trpc/auth.signIn`, { data: { email, password } });
  const at = (path: string) => `${url}/s/${spaceId}${path}`;
  const open = async (address: string) => {
    const page = await context.newPage();
    await page.goto(address);
    return page;
  };
  const overview = await open(at(''));
  await overview.getByRole('heading', { name: 'Errors by message' }).waitFor();
  const live = await open(at('/live'));
  await live.getByText('Waiting for events').waitFor();
  const names = ['overview', 'events', 'thread', 'trace', 'installation'];
  const shown = [
    ...shownPages.filter(({ name }) => names.includes(name)),
    {
      path: () => `/s/${spaceId}/alerts`,
      ready: (page: Page) => page.getByText('No alert has fired yet.').waitFor(),
    },
  ];
  const pages = await Promise.all(shown.map(() => open(at('/profile'))));
  await Promise.all(pages.map((page) => page.getByText('this one').waitFor()));

  await first.stop('SIGTERM');
  const alerts = (page: Page) => page.getByRole('alert');
  await Promise.all(
    shown.map(async ({ path }, place) => {
      const page = pages[place];
      await page?.evaluate(`history.pushState({}, '', '${path({ spaceId, events })}')`);
      await page?.getByText('Weir cannot be reached.').first().waitFor();
    }),
  );
  // The figures stay, with the time when they were read.
  await alerts(overview).getByText('Weir cannot be reached.').first().waitFor();
  await live.getByText('Reconnecting', { exact: true }).waitFor();
  await overview.getByRole('heading', { name: 'Errors by message' }).waitFor();
  expect((await alerts(overview).allTextContents()).join()).not.toContain('01:00:00');

  await using _second = await openService('dashboard-api', {
    ...variables,
    DASHBOARD_PORT: new URL(url).port,
  });
  for (const [place, { ready }] of shown.entries()) {
    const page = pages[place];
    if (page === undefined) continue;
    await ready(page);
    await expect.poll(() => alerts(page).filter({ hasText: 'cannot be reached' }).count()).toBe(0);
  }
  await alerts(overview).first().waitFor({ state: 'detached' });
  await live.getByText('Reconnecting', { exact: true }).waitFor({ state: 'detached' });
  await system.send(apiKey, demoEvents().slice(0, 3));
  await live.locator('[role=grid][aria-rowcount="4"]').waitFor();
});

test('while the API is away a list keeps what it shows, says so, and goes on by itself', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  for (let batch = 0; batch < 3; batch++) await system.send(apiKey, demoEvents());
  // A list does not show what is stored later.
  await untilDrained(system.pipeline);
  const grid = page.getByRole('grid');
  const isAway = /\/trpc\//;
  await page.goto(`/s/${spaceId}/events`);
  await grid.getByRole('row').nth(1).waitFor();
  const away = page.getByRole('alert').filter({ hasText: 'Weir cannot be reached.' }).first();
  await page.route(isAway, (route) => route.abort());
  await grid.hover();
  await page.mouse.wheel(0, 100_000);
  await away.waitFor();
  expect(await grid.getByRole('row').count()).toBeGreaterThan(5);
  await page.unroute(isAway);
  await away.waitFor({ state: 'detached' });
  const rowCount = async () => {
    await page.mouse.wheel(0, 100_000);
    return await grid.getAttribute('aria-rowcount');
  };
  await expect.poll(rowCount, { timeout: 30_000 }).toBe(String(3 * demoEvents().length + 1));

  // A search that was interrupted says so, and ends when the API is back.
  let searches = 0;
  await page.route(/events\.search/, (route) => (searches++ === 0 ? route.continue() : route.abort()));
  await page.goto(`/s/${spaceId}/events?text=customer`);
  const interrupted = page
    .getByRole('status')
    .filter({ hasText: 'found' })
    .filter({ hasText: 'Weir cannot be reached.' });
  const goOn = page.getByRole('button', { name: 'Go on' });
  await goOn.or(interrupted).first().waitFor();
  // On a slow machine the first page has few events, and the search goes on by itself.
  if (await goOn.isVisible()) await goOn.click();
  await interrupted.waitFor();
  await page.unroute(/events\.search/);
  await page.getByText(/Weir cannot be reached/).waitFor({ state: 'detached' });
  await page.getByText(/all of this filter|back to/).waitFor();
});

test('what cannot be read of another filter or range is not shown as that of the one before', async () => {
  await using visitor = await system.visit();
  const { page, apiKey, spaceId } = visitor;
  await system.send(apiKey, demoEvents());
  await untilDrained(system.pipeline);
  const goTo = (path: string) => page.evaluate(`history.pushState({}, '', '/s/${spaceId}${path}')`);
  const away = page.getByRole('main').getByText('Weir cannot be reached.').first();
  const row = (name: string) => page.getByRole('row').filter({ hasText: name }).first();

  await page.goto(`/s/${spaceId}/events?sort=duration&name=gpt-4o-mini`);
  await row('gpt-4o-mini').waitFor();
  await page.route(/events\.top/, (route) => route.abort());
  await goTo('/events?sort=duration&name=mistral-large-latest');
  await away.waitFor();
  expect(await row('gpt-4o-mini').count()).toBe(0);

  // The numbers of the range are read; the costs, which are beside them, are not.
  await page.goto(`/s/${spaceId}/charts?last=1h&by=model`);
  const cost = page.getByRole('columnheader', { name: 'Cost' });
  await cost.waitFor();
  await page.route(/charts\.costs/, (route) => route.abort());
  await goTo('/charts?last=6h&by=model');
  await away.waitFor();
  await cost.waitFor({ state: 'detached' });
});

test('offline, a page that is not loaded yet shows this inside the dashboard, and opens when the network is back', async () => {
  await using visitor = await system.visit();
  const { page, context, errors, spaceId } = visitor;
  await page.goto(`/s/${spaceId}/usage`);
  await page.getByRole('heading', { name: 'Usage & plan' }).waitFor();
  await context.setOffline(true);
  await page.getByRole('link', { name: 'Charts' }).click();
  await page.getByText('This page could not be loaded').waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('This page could not be loaded').waitFor();
  // The navigation still works: other pages can be used.
  await page.getByRole('link', { name: 'Usage & plan' }).waitFor();
  await context.setOffline(false);
  await page.getByRole('heading', { name: 'Charts' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/s/${spaceId}/charts`);
  // React and the browser report the failed import.
  errors.length = 0;
});

test('on a slow network the frame of the page is shown before its scripts are loaded', async () => {
  await using visitor = await system.visit();
  const { page, spaceId } = visitor;
  const gate = Promise.withResolvers<void>();
  await page.route(/assets\/.*\.js/, async (route) => {
    await gate.promise;
    await route.continue();
  });
  await page.goto(`/s/${spaceId}/usage`, { waitUntil: 'commit' });
  const frame = page.getByRole('status', { name: 'Loading Weir' });
  await frame.waitFor();
  const bar = await frame.locator('div').nth(1).boundingBox();
  expect(bar?.width).toBeGreaterThan(100);
  expect(bar?.height).toBeGreaterThan(5);
  gate.resolve();
  await page.getByRole('heading', { name: 'Usage & plan' }).waitFor();
  expect(await frame.count()).toBe(0);
});

test('the live page stays live while a stream ends and the browser reconnects, and misses no events', async () => {
  await using visitor = await system.visit();
  const { page, context, apiKey, spaceId } = visitor;
  // Records every state that the page shows.
  await context.addInitScript(`
    globalThis.states = new Set();
    new MutationObserver(() => {
      for (const text of ['Live', 'Connecting', 'Reconnecting', 'Delayed'])
        if ([...document.querySelectorAll('header span')].some((one) => one.textContent === text)) states.add(text);
    }).observe(document, { subtree: true, childList: true, characterData: true });`);
  let streams = 0;
  let isPositioned = false;
  await page.route(/live\.tail/, async (route) => {
    streams++;
    if (streams > 1) return route.continue();
    // The first stream sends a position and ends at once; normally the server ends a stream after some
    // minutes.
    const position = await firstMessage(route.request().url(), await cookieOf(visitor));
    isPositioned = true;
    await route.fulfill({ contentType: 'text/event-stream', body: position });
  });
  await page.goto(`/s/${spaceId}/live`);
  // Events that were stored before the position are not new to the page.
  await expect.poll(() => isPositioned).toBe(true);
  await system.send(apiKey, demoEvents().slice(0, 3));
  await page.locator('[role=grid][aria-rowcount="4"]').waitFor();
  expect(streams).toBeGreaterThan(1);
  expect(await page.evaluate('[...states]')).not.toContain('Reconnecting');
});

async function cookieOf({ context }: Awaited<ReturnType<typeof system.visit>>): Promise<string> {
  return (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
}

/** The first messages of a stream: connected, and its position. */
async function firstMessage(url: string, cookie: string): Promise<string> {
  const abort = new AbortController();
  const response = await fetch(url, { headers: { cookie }, signal: abort.signal });
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString();
    if (/^id: .*\n\n/m.test(text)) break;
  }
  abort.abort();
  return text;
}

test('operators see the installation, also while nats-server is away; for others there is no such page', async () => {
  await using visitor = await system.visit();
  const { page, errors, spaceId, email } = visitor;
  await page.goto('/installation');
  await page.getByText('Page not found').waitFor();
  await makeOperator(system, email);
  await page.goto(`/s/${spaceId}`);
  await page.getByRole('link', { name: 'Installation' }).click();
  const services = page.getByRole('table', { name: 'Running services' });
  await services.getByRole('cell', { name: 'dashboard-api' }).waitFor();
  await page.getByRole('slider', { name: 'Accepted to visible' }).waitFor();
  await page.getByRole('table', { name: 'Retentions in use' }).waitFor();
  await page.getByRole('button', { name: /^All \d+ checks/ }).click();
  await page.getByRole('cell', { name: 'postgres.partitions' }).waitFor();
  // Commands are shown as code, without backticks.
  const found = page.getByRole('table', { name: 'What weir doctor found' });
  await found.getByText('weir backup --record TOOL', { exact: true }).first().waitFor();

  await system.pipeline.nats.stop();
  // What it said last stays, with the reason.
  await page.getByRole('alert').filter({ hasText: 'nats-server does not answer' }).first().waitFor();
  await services.getByRole('cell', { name: 'dashboard-api' }).waitFor();
  await page.reload();
  await page.getByRole('alert').filter({ hasText: 'nats-server does not answer' }).first().waitFor();
  await page.getByRole('table', { name: 'Retentions in use' }).waitFor();
  await system.pipeline.nats.restart();
  await services.getByRole('cell', { name: 'dashboard-api' }).waitFor();
  errors.length = 0;
});
