import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';

/** Lists, and what their names open. */
export function testLists(system: BrowserSystem): void {
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

  test('facets count the values of the list: a click includes one, another excludes it, and a click on it removes it', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const events = demoEvents();
    await system.send(apiKey, events);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    await page.goto(`/s/${spaceId}/events?last=24h`);
    await page.getByRole('button', { name: 'Facets' }).click();
    const panel = page.getByRole('region', { name: 'Facets' });
    const sizes = Object.entries(Object.groupBy(events, ({ context }) => context.userId ?? ''));
    const [[user, own = []] = ['']] = sizes.toSorted(([, a = []], [, b = []]) => b.length - a.length);
    const counted = `User ${user} ${own.length} events`;
    await panel.getByRole('button', { name: `Only ${counted}` }).click();
    await page.waitForURL((url) => url.searchParams.get('userId') === user);
    await page.locator(`[role=grid][aria-rowcount="${own.length + 1}"]`).waitFor();
    // Others stay beside it, to change to.
    await panel
      .getByRole('button', { name: /^Only User / })
      .nth(1)
      .waitFor();
    await panel.getByRole('button', { name: `No longer only ${counted}` }).click();
    await panel.getByRole('button', { name: 'Without State ok' }).click();
    await panel.getByRole('button', { name: `Without User ${user}` }).click();
    await page.waitForURL((url) => url.searchParams.get('not.userId') === user);
    const rest = events.filter(({ status, context }) => status.state === 'error' && context.userId !== user);
    await page.locator(`[role=grid][aria-rowcount="${rest.length + 1}"]`).waitFor();
    await panel.getByRole('button', { name: 'No longer without State ok' }).click();
    await page.waitForURL((url) => !url.searchParams.has('not.state'));
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
    call.properties.llm = {
      model,
      input: { prompt: JSON.stringify(messages) },
      output: { response: 'Here.' },
    };
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
    await page.waitForURL(
      (url) => url.pathname.endsWith('/events') && url.searchParams.get('name') === model,
    );
  });
}
