import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { someEvents } from '../../../harness/fixtures/events.ts';
import { toProtobuf } from '../../../harness/fixtures/spans.ts';
import { listSenders } from '../../../store/senders.ts';
import { sendRefusedEvents } from '../../support/browser/refused-events.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { postTraces } from '../../support/otlp/otlp-http.ts';
import { countRows, until } from '../../support/wait.ts';

/** Senders, quarantine, and the erasure of a user. */
export function testData(system: BrowserSystem): void {
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
    // The count and the erasure are of the user that the form still names.
    expect(await page.getByLabel('Id of the user').inputValue()).toBe('gone');
    await page.getByLabel(/^Reason/).fill('ticket 7');
    await system.pipeline.sql`UPDATE sessions SET authenticated_at = now() - interval '1 hour'`;
    await page.getByRole('button', { name: 'Erase …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase events' });
    await dialog.getByText('3 events of the user gone will be deleted permanently').waitFor();
    const erase = dialog.getByRole('button', { name: 'Erase permanently' });
    expect(await erase.isDisabled()).toBe(true);
    await dialog.getByLabel(/^Type/).fill('erase');
    await erase.click();
    await page.getByLabel('Your password').fill(visitor.password);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'Erasures in progress' }).waitFor();
    expect(await page.getByLabel('Id of the user').inputValue()).toBe('');
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

  test('the time of an erasure is in the zone of the profile', async () => {
    await using visitor = await system.visit();
    const { page, spaceId, apiKey } = visitor;
    const starts = ['2026-01-02T00:30:00Z', '2026-01-02T01:30:00Z'].map((time) => Date.parse(time));
    await system.send(
      apiKey,
      someEvents(2).map((event, i) => ({
        ...event,
        startTimeMs: starts[i],
        endTimeMs: starts[i],
        durationMs: 0,
      })),
    );
    await until(async () => (await countRows(system.pipeline, spaceId)) === 2);
    await page.evaluate(() => localStorage.setItem('weir.settings', JSON.stringify({ zone: 'Asia/Tokyo' })));
    await page.goto(`/s/${spaceId}/settings/space`);
    await page.getByLabel('Which events').selectOption('before');
    // Ten o'clock in Tokyo is one o'clock in UTC.
    await page.getByLabel(/^Started before/).fill('2026-01-02T10:00');
    await page.getByRole('button', { name: 'Count' }).click();
    await page.getByText('1 stored event, from 2026-01-02 09:30 to 2026-01-02 09:30').waitFor();
  });
}
