import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser/use-browser.ts';

const system = useBrowser();

test('a key is made, used, rolled and revoked', async () => {
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
  // Once it is copied it is masked.
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
  await page.goto(`/s/${spaceId}/audit-log`);
  await page.getByText('api_key.revoke').waitFor();
});

test('an invited viewer joins with a password, reads, and sees nothing to change', async () => {
  await using owner = await system.visit();
  await using viewer = await system.visitSignedOut();
  await owner.page.goto(`/s/${owner.spaceId}/members`);
  await owner.page.getByRole('button', { name: 'Invite' }).click();
  await owner.page.getByLabel('E-mail address').fill('viewer@example.org');
  await owner.page.getByRole('button', { name: 'Make the link' }).click();
  const link = (await owner.page.getByText(/\/invitation#/).textContent()) ?? '';

  const { page } = viewer;
  await page.goto(link);
  await page.getByLabel('Choose a password').fill('a long enough password');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('heading', { name: 'Send your first event' }).waitFor();
  await page.getByText('Ask an admin of the space for an API key.').waitFor();
  expect(await page.getByRole('link', { name: 'API Keys' }).count()).toBe(0);
  await page.goto(`/s/${owner.spaceId}/settings/api-keys`);
  await page.getByText('You may not see this').waitFor();
});
