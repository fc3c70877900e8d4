import { expect, test } from 'vitest';
import { agedPart } from '../../../harness/fixtures/aged-part.ts';
import { llmEvent, someEvents } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';

/** The settings of a space, its deletion, and its alerts. */
export function testSpace(system: BrowserSystem): void {
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
    expect(await page.getByRole('link', { name: 'Events', exact: true }).count()).toBe(0);
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
      llmEvent({
        startTimeMs: agoMs(minutes),
        endTimeMs: agoMs(minutes),
        status: failed,
        additionalProperties: { environment: 'staging' },
      }),
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
    await dialog.getByLabel(/^Threshold/).fill('100');
    await dialog.getByText('Would not have fired in the last week.').waitFor();
    await dialog.getByLabel(/^Threshold/).fill('50');
    await dialog.getByLabel('Events', { exact: true }).selectOption('An additional property');
    await dialog.getByLabel('Name of the property').fill('environment');
    await dialog.getByLabel('Value of the property').fill('staging');
    await dialog.getByText('Would have fired 1 time in the last week.').waitFor();
    expect(await dialog.getByLabel('Measured over').getByRole('option').last().textContent()).toBe('1 hour');
    await dialog.getByLabel('Value of the property').fill('production');
    await dialog.getByText('Would not have fired in the last week.').waitFor();
    await dialog.getByLabel('Events', { exact: true }).selectOption('All events');
    await dialog.getByLabel(/^Threshold/).fill('100');
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
}
