import { expect, test } from 'vitest';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';

/** Keys, invitations and the audit log. */
export function testAccess(system: BrowserSystem): void {
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

    const lastFour = key.slice(-4);
    await page.getByRole('button', { name: `Roll agent <b>prod</b> …${lastFour}` }).click();
    await page.getByRole('button', { name: 'Roll the key' }).click();
    const newKey =
      (await page
        .getByRole('dialog')
        .getByText(/^weir_/)
        .textContent()) ?? '';
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText(/^rolled, ends/).waitFor();

    // Both have one name: the dialog says which one it is.
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: `Revoke agent <b>prod</b> …${newKey.slice(-4)}` }).click();
    await dialog.getByText(`This is the new key, which takes the place of …${lastFour}.`).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: `Revoke agent <b>prod</b> …${lastFour}` }).click();
    await dialog.getByText(`it was rolled, and …${newKey.slice(-4)} takes its place`).waitFor();
    await dialog.getByText(/^Created .* by .*@.*Last used: /).waitFor();
    const revoke = page.getByRole('button', { name: 'Revoke', exact: true });
    expect(await revoke.isDisabled()).toBe(true);
    await page.getByLabel(/^Type/).fill('agent <b>prod</b>');
    expect(await revoke.isDisabled()).toBe(true);
    await page.getByLabel(/^Type/).fill(lastFour);
    await revoke.click();
    await page.getByText('revoked', { exact: true }).waitFor();
    const revoked = page.getByRole('row').filter({ hasText: 'revoked' });
    expect(await revoked.textContent()).toContain(lastFour);
    expect(await revoked.textContent()).toContain('rolled');

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
}
