import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { toProtobuf } from '../../harness/fixtures/spans.ts';
import { changeSpace } from '../../lib/accounts/spaces.ts';
import { listSenders } from '../../lib/senders/senders.ts';
import { insertParts } from '../../lib/write/store.ts';
import { demoEvents } from '../support/browser/demo-events.ts';
import { sendRefusedEvents } from '../support/browser/refused-events.ts';
import { useBrowser } from '../support/browser/use-browser.ts';
import { postTraces } from '../support/otlp/otlp-http.ts';
import { countRows, until } from '../support/wait.ts';

const system = useBrowser();

test('a key can be created, used, rolled and revoked', async () => {
  await using visitor = await system.visit();
  const { page, spaceId } = visitor;
  await page.goto(`/s/${spaceId}/settings/api-keys`);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('agent <b>prod</b>');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const key =
    (await page
      .getByRole('dialog')
      .getByText(/^weir_/)
      .textContent()) ?? '';
  await system.send(key, []);
  await page.getByRole('button', { name: 'Copy the key' }).click();
  // After it is copied it is masked.
  await page
    .getByRole('dialog')
    .getByText(/^weir_.{4}•+/)
    .waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
  await page.getByRole('button', { name: 'Done' }).click();

  await page.getByRole('button', { name: 'Roll agent <b>prod</b>' }).click();
  await page.getByRole('button', { name: 'Roll the key' }).click();
  await page
    .getByRole('dialog')
    .getByText(/^weir_/)
    .waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText(/^rolled, ends/).waitFor();

  await page.getByRole('button', { name: 'Revoke agent <b>prod</b>' }).first().click();
  const revoke = page.getByRole('button', { name: 'Revoke', exact: true });
  expect(await revoke.isDisabled()).toBe(true);
  await page.getByLabel(/^Type/).fill('agent <b>prod</b>');
  await revoke.click();
  await page.getByText('revoked', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('grafana');
  await page.getByLabel('Access').selectOption('Read: only charts, costs and usage');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByText(/^weir_read_/)
    .waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('reads statistics').waitFor();
  await page.goto(`/s/${spaceId}/audit-log`);
  await page.getByText('api_key.revoke').waitFor();
});

test('an invited viewer joins with a password, can read, and is offered no changes', async () => {
  await using owner = await system.visit();
  await using viewer = await system.visitSignedOut();
  await owner.page.goto(`/s/${owner.spaceId}/members`);
  await owner.page.getByRole('button', { name: 'Invite' }).click();
  await owner.page.getByLabel('E-mail address').fill('viewer@example.org');
  await owner.page.getByRole('button', { name: 'Create the link' }).click();
  const link = (await owner.page.getByText(/\/invitation#/).textContent()) ?? '';

  const { page } = viewer;
  await page.goto(link);
  await page.getByLabel('Choose a password').fill('a long enough password');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('heading', { name: 'Send your first event' }).waitFor();
  await page.getByText('Ask an admin of the space for an API key.').waitFor();
  const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  expect(await pages.allTextContents()).toEqual([
    ...[
      'Overview',
      'Events',
      'Threads',
      'Users',
      'Live',
      'Charts',
      'Senders',
      'Alerts',
      'Usage & plan',
      'Prices',
    ],
  ]);
  for (const path of ['settings/api-keys', 'members', 'audit-log', 'quarantine']) {
    await page.goto(`/s/${owner.spaceId}/${path}`);
    await page.getByText('Access denied').waitFor();
  }
  expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
  await page.goto(`/s/${owner.spaceId}/settings/prices`);
  await page.getByText(/An owner of the space can set prices/).waitFor();
  expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
  await page.getByRole('button', { name: /^Space/ }).click();
  await page.getByRole('menuitem').first().waitFor();
  expect(await page.getByRole('menuitem', { name: /Rename|New/ }).count()).toBe(0);

  await owner.page.reload();
  await owner.page.getByRole('combobox', { name: 'Role of viewer@example.org' }).selectOption('admin');
  await owner.page.getByText('viewer@example.org is admin now.').waitFor();
  // The last owner cannot be removed.
  expect(await owner.page.getByRole('button', { name: `Remove ${owner.email}` }).count()).toBe(0);
  await page.goto(`/s/${owner.spaceId}/settings/api-keys`);
  await page.getByRole('button', { name: 'Create key' }).waitFor();
});

test('the senders of spans appear with what became of their spans, and can be filtered', async () => {
  await using visitor = await system.visit();
  const { page, spaceId } = visitor;
  await page.goto(`/s/${spaceId}/senders`);
  await page.getByText('OTEL_EXPORTER_OTLP_HEADERS').waitFor();
  const chat = { 'gen_ai.operation.name': 'chat' };
  const requests = [
    {
      resource: { 'service.name': 'planner', 'telemetry.sdk.language': 'python' },
      scope: { name: 'library-a', version: '1.2' },
      spans: [{ spanId: '0000000000000001', attributes: chat }, { spanId: '0000000000000002' }],
    },
    { scope: { name: 'library-b' }, spans: [{ spanId: 'abcd', attributes: chat }] },
  ];
  const body = toProtobuf(...requests);
  await postTraces(system.pipeline, visitor, { type: 'application/x-protobuf', body });
  const { database } = system.pipeline;
  await until(async () => (await listSenders(database, spaceId)).length === 2);
  await page.reload();
  const planner = page.getByRole('row').filter({ hasText: 'planner' });
  await planner.waitFor();
  expect((await planner.getByRole('cell').allTextContents()).slice(0, 6)).toEqual([
    'plannerlibrary-a 1.2python',
    '2',
    '1',
    '0',
    '1',
    '0',
  ]);
  await page.getByRole('row').filter({ hasText: 'A span has no valid span id.' }).waitFor();
  await page.getByRole('button', { name: 'With refused spans' }).click();
  await planner.waitFor({ state: 'detached' });
  await page.getByRole('searchbox').fill('library-c');
  await page.getByText('No sender matches').waitFor();
  await page.getByRole('button', { name: 'Show all senders' }).click();
  await planner.waitFor();
});

test('an event in quarantine shows its reason, is replayed after the cause is removed, and appears in the list', async () => {
  await using visitor = await system.visit();
  const { page, spaceId } = visitor;
  const { ids, removeCause } = await sendRefusedEvents(system, visitor, 2);
  await page.goto(`/s/${spaceId}/quarantine`);
  const row = page.getByRole('row').filter({ hasText: ids[0] ?? '' });
  await row.getByText('23514', { exact: true }).waitFor();
  await row.getByText(/violates check constraint.*known_user/).waitFor();
  const replay = page.getByRole('button', { name: `Replay ${ids[0]}` });
  await replay.click();
  await page.getByText('0 stored, 1 rejected again.').waitFor();
  await removeCause();
  await replay.click();
  await page.getByText('1 stored.', { exact: true }).waitFor();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: `Replay ${ids[1]}` }).click();
  await page.getByText('Nothing is in quarantine').waitFor();
  await page.goto(`/s/${spaceId}/events/${ids[0]}`);
  await page.getByRole('button', { name: 'Only events with User cus_refused' }).click();
  await page.getByRole('row').nth(2).waitFor();
  expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('3');
});

test('a coming 402 is forecast on the overview and the usage page, and explained when it occurs', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, apiKey } = visitor;
  const { database } = system.pipeline;
  const events = demoEvents();
  const limitTo = (monthlyEventLimit: number) => changeSpace(database, spaceId, { monthlyEventLimit });
  // A forecast needs a day of data.
  await system.pipeline.sql`UPDATE spaces SET created_at = now() - interval '25 hours' WHERE id = ${spaceId}`;
  await limitTo(events.length + 1);
  await system.send(apiKey, events);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.getByRole('link', { name: /the monthly limit is reached on/ }).click();
  await page.getByText(/At this rate the monthly limit is reached on .* 402 usage_limit_exceeded/).waitFor();
  await page.getByText(String(events.length + 1), { exact: true }).waitFor();
  const meter = page.getByRole('meter', { name: 'Share of the monthly limit' });
  expect(await meter.getAttribute('aria-valuenow')).toBe(
    String(Math.round((events.length / (events.length + 1)) * 100)),
  );

  await limitTo(events.length);
  await page.reload();
  await page.getByText(/The monthly limit is reached: new batches are rejected with/).waitFor();
  await until(() => system.send(apiKey, demoEvents().slice(0, 1)).then(() => false, isQuotaError));
  await page.goto(`/s/${spaceId}`);
  await page.getByText('New batches are rejected with 402.').waitFor();
});

test('space settings: the name, what a retention deletes before it is set, and what only the operator can do', async () => {
  await using visitor = await system.visit();
  const { page, spaceId } = visitor;
  await insertParts(system.pipeline.database, [agedPart(spaceId, someEvents(3), 40)]);
  await page.goto(`/s/${spaceId}/settings/space`);
  await page.getByLabel('Name of the space').fill('Production');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByRole('button', { name: 'Space Production' }).waitFor();
  await page.getByText(`weir space set ${spaceId} --plan NAME`).waitFor();
  await page.getByLabel('Days').fill('1.5');
  await page.getByText('A whole number from 1 to 36500.').waitFor();
  await page.getByLabel('Days').fill('90');
  await page.getByText('No stored event is older').waitFor();
  await page.getByLabel('Days').fill('30');
  await page.getByText(/3 events, received from .* would be deleted permanently/).waitFor();
  // The session authenticated long ago: setting asks for the password.
  await system.pipeline.sql`UPDATE sessions SET authenticated_at = now() - interval '1 hour'`;
  await page.getByRole('button', { name: 'Set the retention' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set the retention' });
  await dialog.getByText('3 events').waitFor();
  await dialog.getByRole('button', { name: 'Set the retention' }).click();
  await page.getByLabel('Your password').fill(visitor.password);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Events are deleted permanently 30 days after they were received.').waitFor();
  const [space] = await system.pipeline.sql`SELECT retention_days FROM spaces WHERE id = ${spaceId}`;
  expect(space?.retention_days).toBe(30);

  // Deleting it takes its name. Then one page is left, until an owner restores it.
  await page.getByRole('button', { name: 'Delete this space …' }).click();
  const deleting = page.getByRole('dialog', { name: 'Delete the space' });
  const remove = deleting.getByRole('button', { name: 'Delete the space' });
  await deleting.getByLabel(/^Type/).fill('production');
  expect(await remove.isDisabled()).toBe(true);
  await deleting.getByLabel(/^Type/).fill('Production');
  await remove.click();
  await page.getByRole('heading', { name: 'This space is deleted' }).waitFor();
  await page.goto(`/s/${spaceId}/events`);
  await page.getByText('nothing is deleted: its keys are refused').waitFor();
  expect(page.url()).toMatch(/\/deleted$/);
  await page.getByRole('button', { name: 'Restore the space' }).click();
  await page.getByText('The space is restored.').waitFor();
  await page.goto(`/s/${spaceId}/settings/space`);
  await page.getByText('Events are deleted permanently 30 days').waitFor();
});

test('an alert shows when it would have fired before it is saved; a webhook shows its secret once; a test shows its outcome', async () => {
  await using visitor = await system.visit();
  const { page, spaceId } = visitor;
  const agoMs = (minutes: number) => Date.now() - minutes * 60_000;
  const failed = { state: 'error', error: { code: 'E', message: 'failed' } };
  const events = [200, 199, 198, 197].map((minutes) =>
    llmEvent({ startTimeMs: agoMs(minutes), endTimeMs: agoMs(minutes), status: failed }),
  );
  await insertParts(system.pipeline.database, [partOf(spaceId, events)]);
  await page.goto(`/s/${spaceId}/alerts`);
  await page.getByText('No alerts', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Add a target' }).click();
  const adding = page.getByRole('dialog', { name: 'Add a target' });
  await adding.getByLabel('Kind').selectOption('email');
  await adding.getByText('The operator sets SMTP_URL and SMTP_FROM').waitFor();
  expect(await adding.getByRole('button', { name: 'Add' }).isDisabled()).toBe(true);
  await adding.getByLabel('Kind').selectOption('webhook');
  await adding.getByLabel('Name').fill('On call');
  await adding.getByLabel('URL').fill('https://localhost:1/secret-path');
  await adding.getByRole('button', { name: 'Add' }).click();
  await adding.getByText(/^whsec_/).waitFor();
  await adding.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Send a test to On call' }).click();
  await page.getByText('The address is not on the public internet.').waitFor();
  expect(await page.getByText('secret-path').count()).toBe(0);

  await page.getByRole('button', { name: 'New alert' }).click();
  const dialog = page.getByRole('dialog', { name: 'New alert' });
  await dialog.getByLabel('Name').fill('Errors');
  await dialog.getByText('Would have fired 1 time in the last week.').waitFor();
  await dialog.getByLabel(/^Bound/).fill('100');
  await dialog.getByText('Would not have fired in the last week.').waitFor();
  await dialog.getByLabel('On call').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('table', { name: 'Alerts', exact: true }).getByRole('row', { name: /Errors/ });
  await row.getByText('Error rate above 100% in 15 minutes').waitFor();
  await row.getByRole('button', { name: 'Mute Errors for a day' }).click();
  await row.getByText('muted').waitFor();
  await row.getByRole('button', { name: 'Remove Errors' }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByText('No alerts', { exact: true }).waitFor();
});

test('an owner erases a user: counts, confirms, sees it complete, and downloads the receipt', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, apiKey } = visitor;
  const gone = someEvents(3).map((event) => ({ ...event, context: { userId: 'gone' } }));
  await system.send(apiKey, [...gone, ...someEvents(2)]);
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/settings/space`);
  await page.getByLabel('Id of the user').fill('gone');
  await page.getByRole('button', { name: 'Count' }).click();
  await page.getByText(/^3 stored events/).waitFor();
  await page.getByLabel(/^Reason/).fill('ticket 7');
  await system.pipeline.sql`UPDATE sessions SET authenticated_at = now() - interval '1 hour'`;
  await page.getByRole('button', { name: 'Erase …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase events' });
  await dialog.getByText('3 events will be deleted permanently').waitFor();
  const erase = dialog.getByRole('button', { name: 'Erase permanently' });
  expect(await erase.isDisabled()).toBe(true);
  await dialog.getByLabel(/^Type/).fill('erase');
  await erase.click();
  await page.getByLabel('Your password').fill(visitor.password);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('heading', { name: 'Erasures in progress' }).waitFor();
  const receipts = page.getByRole('table', { name: 'Receipts of erasures' });
  await receipts.getByText('ticket 7').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    receipts.getByRole('button', { name: /^Download/ }).click(),
  ]);
  const receipt = JSON.parse(await readFile(await download.path(), 'utf8'));
  expect(receipt).toMatchObject({ spaceId, reason: 'ticket 7', erased: { events: 3 } });
  expect(JSON.stringify(receipt)).not.toContain('gone');
  expect(await countRows(system.pipeline, spaceId)).toBe(2);
});

const isQuotaError = (error: Error) => /answered 402: .*usage_limit_exceeded/.test(error.message);

test('a space that is minutes old has no forecast, and the page says why', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, apiKey } = visitor;
  await system.send(apiKey, demoEvents());
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.goto(`/s/${spaceId}/usage`);
  const forecast = page.locator('dl > div').filter({ hasText: 'Forecast for the month' });
  await forecast.getByText('Available after a day of data.').waitFor();
  expect(await forecast.getByText(/\d/).count()).toBe(0);
});

test('costs appear at list prices, and an owner sets prices of their own and for models without one', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, apiKey } = visitor;
  // As a router and a maker name a model with a list price, and one that no list has.
  const names: Record<string, string> = {
    'gpt-4o': 'models/gpt-4o-2024-08-06',
    'mistral-large-latest': 'house-model',
  };
  await system.send(
    apiKey,
    demoEvents().map((event) => {
      const { llm } = event.properties;
      if (llm !== undefined) llm.model = names[String(llm.model)] ?? llm.model;
      return event;
    }),
  );
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  await page.getByText(/^\$\d/).first().waitFor();
  await page.getByRole('link', { name: /of tokens priced, at list prices/ }).click();
  await page.getByText('No prices were set').waitFor();
  const used = page.getByRole('table', { name: 'Prices of models in use' });
  const dated = used.getByRole('row', { name: /gpt-4o-2024-08-06/ });
  await dated.getByText('list price').waitFor();
  await dated.getByText('$2.50', { exact: true }).waitFor();

  // The table of models without a price is editable.
  const unpriced = page.getByRole('table', { name: 'Models without a price' });
  await unpriced.getByLabel('Input price of house-model').fill('2');
  const save = page.getByRole('button', { name: 'Set 1 price' });
  expect(await save.isDisabled()).toBe(true);
  await unpriced.getByLabel('Output price of house-model').fill('6');
  await save.click();
  await unpriced.waitFor({ state: 'detached' });
  await used
    .getByRole('row', { name: /house-model/ })
    .getByText('this space')
    .waitFor();

  // A price of the space replaces the list price.
  await page.getByRole('button', { name: 'Set a price for models/gpt-4o-2024-08-06' }).click();
  const dialog = page.getByRole('dialog', { name: 'Price of a model' });
  await dialog.getByLabel('Input').fill('2,5');
  await dialog.getByText('Enter a decimal number such as 2.50.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Set the price' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Input').fill('3.5');
  await dialog.getByLabel('Cache read').fill('');
  await dialog.getByRole('button', { name: 'Set the price' }).click();
  const set = page.getByRole('table', { name: /^Prices, US dollars/ });
  const row = set.getByRole('row', { name: /gpt-4o-2024-08-06/ });
  await row.getByText('in force').waitFor();
  await row.getByText('$3.50', { exact: true }).waitFor();
  // Without cache prices, cached tokens cost the input price, and the row says so.
  expect(await row.getByText('as input').count()).toBe(2);
  await dated.getByText('this space').waitFor();
  await page.goto(`/s/${spaceId}`);
  await page.getByText(/^100% of tokens priced, .* at list prices$/).waitFor();

  await page.goto(`/s/${spaceId}/settings/prices`);
  await page.getByRole('button', { name: /^Remove the price of models\/gpt-4o/ }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await dated.getByText('list price').waitFor();
});

test('a click filters the audit log by action, and the filter is in the address', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, email } = visitor;
  await page.goto(`/s/${spaceId}/audit-log`);
  await page.getByRole('button', { name: 'session.open' }).click();
  await page.waitForURL((url) => url.searchParams.get('action') === 'session.open');
  await page.getByRole('button', { name: 'api_key.create' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: email }).click();
  await page.getByRole('button', { name: `Remove filter Who: ${email}` }).waitFor();
  await page.getByRole('button', { name: 'Remove filter Action: session.open' }).click();
  await page.getByRole('button', { name: 'session.open' }).waitFor();
  expect(await page.getByRole('button', { name: 'operator' }).count()).toBe(0);
});
