import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startOnFreePorts } from '../../launcher/provision/ports.ts';
import { callbackPath } from '../../services/dashboard-api/sso/provider.ts';
import { builtWeb } from '../support/browser/built-web.ts';
import { useBrowser } from '../support/browser/use-browser.ts';
import { startService } from '../support/service-process.ts';
import { openOpenIdProvider } from '../support/tools/openid-provider.ts';

const system = useBrowser();

/** Makes all sessions too old for changes that widen access. */
const ageSessions = () =>
  system.pipeline.sql`UPDATE sessions SET authenticated_at = now() - interval '1 day'`;

const question = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' });
const invitation = (page: Page) => page.getByRole('dialog', { name: 'Invite a member' });

/** Fills in an invitation, and sends it. */
async function invite(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('button', { name: 'Create the link' }).click();
}

test.each([
  { theme: 'light', width: 1_280 },
  { theme: 'dark', width: 320 },
] as const)(
  'an invitation asks for the password, and is made when it is right ($theme, $width px)',
  async (options) => {
    await using visitor = await system.visit(options);
    const { page, spaceId, password } = visitor;
    await page.goto(`/s/${spaceId}/members`);
    await ageSessions();
    await invite(page, 'guest@example.org');
    const field = page.getByLabel('Your password', { exact: true });
    await field.waitFor();
    expect(await field.evaluate('document.activeElement.name')).toBe('password');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);

    // Esc closes the question only. What was typed stays, and the form says why nothing happened.
    await page.keyboard.press('Escape');
    await question(page).waitFor({ state: 'detached' });
    await invitation(page)
      .getByRole('alert')
      .getByText(/signed in too long ago/)
      .waitFor();
    expect(await invitation(page).getByLabel('E-mail address').inputValue()).toBe('guest@example.org');
    await expect
      .poll(() =>
        page.evaluate(
          'document.activeElement.closest("form")?.textContent ?? document.activeElement.outerHTML',
        ),
      )
      .toContain('Create the link');

    await page.getByRole('button', { name: 'Create the link' }).click();
    await field.fill('wrong');
    await question(page).getByRole('button', { name: 'Confirm' }).click();
    await question(page).getByText('The password is wrong.').waitFor();
    await field.fill(password);
    await page.keyboard.press('Enter');
    await invitation(page)
      .getByText(/\/invitation#/)
      .waitFor();
    expect(await question(page).count()).toBe(0);
  },
);

test('roles, removals and keys ask once for all, and revoking asks nothing', async () => {
  await using visitor = await system.visit();
  await using guest = await system.visit();
  const { page, spaceId, password } = visitor;
  await system.pipeline.sql`
    INSERT INTO memberships (space_id, user_id, role)
    SELECT ${spaceId}, id, 'viewer' FROM users WHERE email = ${guest.email}`;
  await page.goto(`/s/${spaceId}/members`);
  await ageSessions();
  await page.getByRole('combobox', { name: `Role of ${guest.email}` }).selectOption('member');
  await question(page).getByRole('button', { name: 'Cancel' }).click();
  await page.getByText(/signed in too long ago/).waitFor();
  await page.getByRole('button', { name: `Remove ${guest.email}` }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByLabel('Your password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('row').filter({ hasText: guest.email }).waitFor({ state: 'detached' });
  await page.goto(`/s/${spaceId}/settings/api-keys`);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('agent');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByText(/^weir_/)
    .waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await ageSessions();
  await page.getByRole('button', { name: 'Revoke agent' }).click();
  await page.getByLabel(/^Type/).fill('agent');
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('revoked', { exact: true }).waitFor();
});

test('a user of single sign-on signs in again, and comes back to the same page', async () => {
  await using resources = new AsyncDisposableStack();
  const owner = resources.use(await system.visit());
  const { page, errors } = resources.use(await system.visitSignedOut());
  const directory = await builtWeb();
  const url = await startOnFreePorts(1, async ([port = 0]) => {
    const publicUrl = `http://127.0.0.1:${port}`;
    const provider = resources.use(await openOpenIdProvider(`${publicUrl}${callbackPath}`));
    provider.people.set('owner', { email: owner.email, email_verified: true });
    const dashboard = await startService('dashboard-api', {
      ...system.pipeline.variables,
      DASHBOARD_PORT: String(port),
      DASHBOARD_PUBLIC_URL: publicUrl,
      DASHBOARD_WEB_DIR: directory,
      OIDC_ISSUER: provider.issuer,
      OIDC_NAME: 'Example',
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
    });
    resources.use(dashboard);
    return publicUrl;
  });
  // The provider's own page asks for a font.
  await page.route(/^(?!http:\/\/127\.0\.0\.1)/, (route) => route.abort());
  const authenticate = async () => {
    await page.locator('input[name=login]').fill('owner');
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
  };
  const members = `/s/${owner.spaceId}/members`;
  await page.goto(`${url}/auth/sso/start?to=${members}`);
  await authenticate();
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  await ageSessions();
  await invite(page, 'guest@example.org');
  await question(page).getByRole('link', { name: 'Sign in again with Example' }).click();
  await authenticate();
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(members);
  await invite(page, 'guest@example.org');
  await invitation(page)
    .getByText(/\/invitation#/)
    .waitFor();
  errors.length = 0;
});

test('the members page says whose address is verified', async () => {
  await using visitor = await system.visit();
  const { page, spaceId, email } = visitor;
  await using guest = await system.visit();
  await system.pipeline.sql`UPDATE users SET email_verified_at = NULL WHERE email = ${guest.email}`;
  await system.pipeline.sql`
    INSERT INTO memberships (space_id, user_id, role)
    SELECT ${spaceId}, id, 'viewer' FROM users WHERE email = ${guest.email}`;
  await page.goto(`/s/${spaceId}/members`);
  const rowOf = (address: string) => page.getByRole('row').filter({ hasText: address });
  await rowOf(guest.email).getByText('not verified').waitFor();
  await rowOf(email)
    .getByText(/\d\d:\d\d/)
    .waitFor();
  expect(await rowOf(email).getByText('not verified').count()).toBe(0);
});
