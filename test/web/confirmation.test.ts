import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { callbackPath } from '../../services/dashboard-api/sso/provider.ts';
import { builtWeb } from '../support/browser/built-web.ts';
import { useBrowser } from '../support/browser/use-browser.ts';
import type { Visitor } from '../support/browser/visitor.ts';
import { openService, startOnFreePort } from '../support/service.ts';
import { openOpenIdProvider } from '../support/tools/openid-provider.ts';
import { llmEvent } from './complaints/sent-event.ts';

const system = useBrowser();

/** Makes all sessions too old for changes that widen access. */
const ageSessions = () =>
  system.pipeline.sql`UPDATE sessions SET authenticated_at = now() - interval '1 day'`;

const question = (page: Page) => page.getByRole('dialog', { name: 'Confirm your identity' });
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
  const [, lastFour = ''] = /“(.{4})”/.exec((await page.getByText(/^Type “/).textContent()) ?? '') ?? [];
  await page.getByLabel(/^Type/).fill(lastFour);
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('revoked', { exact: true }).waitFor();
});

test('below a base path a user of single sign-on signs in again, and comes back to the same page', async () => {
  const basePath = '/ops/weir';
  await using resources = new AsyncDisposableStack();
  const owner = resources.use(await system.visit());
  const { page, errors } = resources.use(await system.visitSignedOut());
  const directory = await builtWeb();
  const url = await startOnFreePort(async (port) => {
    const publicUrl = `http://127.0.0.1:${port}`;
    const provider = resources.use(await openOpenIdProvider(`${publicUrl}${basePath}${callbackPath}`));
    provider.people.set('owner', { email: owner.email, email_verified: true });
    const dashboard = await openService('dashboard-api', {
      ...system.pipeline.variables,
      DASHBOARD_PORT: String(port),
      DASHBOARD_PUBLIC_URL: publicUrl,
      DASHBOARD_BASE_PATH: basePath,
      DASHBOARD_WEB_DIR: directory,
      OIDC_ISSUER: provider.issuer,
      OIDC_NAME: 'Example',
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
    });
    resources.use(dashboard);
    return `${publicUrl}${basePath}`;
  });
  // The provider's own page asks for a font.
  await page.route(/^(?!http:\/\/127\.0\.0\.1)/, (route) => route.abort());
  const authenticate = async () => {
    await page.locator('input[name=login]').fill('owner');
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
  };
  const members = `${basePath}/s/${owner.spaceId}/members`;
  // The address with its filter comes back, and is not sent.
  const sent: string[] = [];
  const astray: string[] = [];
  page.on('request', (request) => {
    sent.push(request.url());
    const { origin, pathname } = new URL(request.url());
    if (origin === new URL(url).origin && !pathname.startsWith(`${basePath}/`)) astray.push(pathname);
  });
  await page.goto(`${url}/sign-in`);
  await page.evaluate(
    `history.replaceState(null, '', '${basePath}/sign-in?to=' + encodeURIComponent('/s/${owner.spaceId}/members?filter=secret'))`,
  );
  await page.reload();
  sent.length = 0;
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await authenticate();
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  expect(new URL(page.url()).search).toBe('?filter=secret');
  expect(sent.filter((one) => one.includes('/auth/sso/')).length).toBeGreaterThan(0);
  expect(sent.filter((one) => one.includes('secret'))).toEqual([]);
  await ageSessions();
  await invite(page, 'guest@example.org');
  await question(page).getByRole('link', { name: 'Sign in again with Example' }).click();
  await authenticate();
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(members);
  await invite(page, 'guest@example.org');
  await invitation(page).getByText(`${url}/invitation#`).waitFor();
  // The other pages, a part that is loaded when it is needed, the live stream and a reload.
  await system.send(owner.apiKey, [llmEvent({ model: 'm' })]);
  await page.goto(`${url}/s/${owner.spaceId}/events`);
  await page.getByRole('row').nth(1).waitFor();
  await page.goto(`${url}/`);
  await page.getByRole('table', { name: 'Recent events' }).getByRole('link', { name: 'm' }).click();
  await page.getByRole('link', { name: 'Download' }).waitFor();
  await page.reload();
  const raw = await page.getByRole('link', { name: 'Download' }).getAttribute('href');
  expect(raw).toMatch(new RegExp(`^${basePath}/raw/`));
  expect(astray).toEqual([]);
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

/** Browsers offer passkeys at `localhost`, not at `127.0.0.1`. */
const named = (url: string) => url.replace('127.0.0.1', 'localhost');

/** Gives the window an authenticator with a verified user. */
async function addAuthenticator({ context, page }: Pick<Visitor, 'context' | 'page'>): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Forgets the session, and gives the password on the sign-in page. */
async function givePassword(
  { page, context }: Pick<Visitor, 'context' | 'page'>,
  { url, email, password }: { url: string; email: string; password: string },
): Promise<void> {
  await context.clearCookies();
  await page.goto(url);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function addPasskey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill('laptop');
  await page.getByRole('button', { name: 'Create the passkey' }).click();
}

/** Reads the new recovery codes, and closes their dialog. */
async function keepCodes(page: Page): Promise<string[]> {
  const dialog = page.getByRole('dialog', { name: 'Your recovery codes' });
  await dialog.waitFor();
  const codes = await dialog.getByRole('listitem').allTextContents();
  await dialog.getByRole('button', { name: 'I have saved them' }).click();
  await dialog.waitFor({ state: 'detached' });
  return codes;
}

test('a user adds an app and a passkey, and signs in with a recovery code, a code of the app, and the passkey', async () => {
  await using owner = await system.visit();
  await using visitor = await system.visitSignedOut({ width: 390 });
  const { page, context } = visitor;
  const profile = `/s/${owner.spaceId}/profile`;
  const url = `${named(system.url)}/sign-in?to=${profile}`;
  await addAuthenticator(visitor);
  await givePassword(visitor, { ...owner, url });
  await page.getByRole('button', { name: 'Add an app' }).click();
  await page.getByRole('img', { name: 'QR code of the secret' }).waitFor();
  const secret = ((await page.getByText(/^([A-Z2-7]{4} ?){8}$/).textContent()) ?? '').replaceAll(' ', '');
  const app = new TOTP({ secret });
  await page.getByLabel('Code from the app').fill('000000');
  await page.getByRole('button', { name: 'Add the app' }).click();
  await page.getByText(/The code is wrong/).waitFor();
  await page.getByLabel('Code from the app').fill(app.generate());
  await page.getByRole('button', { name: 'Add the app' }).click();
  const codes = await keepCodes(page);
  expect(codes).toHaveLength(10);
  await addPasskey(page);
  await page.getByText(/^Passkey, added/).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);

  for (const code of [codes[0] ?? '', app.generate({ timestamp: Date.now() + 30_000 })]) {
    await givePassword(visitor, { ...owner, url });
    await page.getByLabel('Code').fill('wrong');
    await page.getByRole('button', { name: 'Sign in with the code' }).click();
    await page.getByText('The code is wrong or was already used.').waitFor();
    await page.getByLabel('Code').fill(code);
    await page.keyboard.press('Enter');
    await page.getByText('9 left. Each replaces the second factor once.').waitFor();
  }
  await context.clearCookies();
  await page.goto(url);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText(/^Passkey, added .*, last used/).waitFor();
  await ageSessions();
  await page.getByRole('button', { name: 'Remove the authenticator app' }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await question(page).getByRole('button', { name: 'Confirm with a passkey' }).click();
  await page.getByRole('button', { name: 'Add an app' }).waitFor();
});

test('with SECOND_FACTOR_REQUIRED every page leads to the second factor, and then on', async () => {
  await using owner = await system.visit();
  await using visitor = await system.visitSignedOut();
  await using dashboard = await openService('dashboard-api', {
    ...system.pipeline.variables,
    DASHBOARD_PORT: '0',
    DASHBOARD_WEB_DIR: await builtWeb(),
    SECOND_FACTOR_REQUIRED: 'true',
  });
  const { page } = visitor;
  const origin = named(dashboard.ready.url ?? '');
  const members = `/s/${owner.spaceId}/members`;
  await addAuthenticator(visitor);
  await givePassword(visitor, { ...owner, url: `${origin}/sign-in?to=${members}` });
  await page.getByRole('heading', { name: 'Add a second factor' }).waitFor();
  await page.goto(`${origin}${members}`);
  await addPasskey(page);
  expect(await keepCodes(page)).toHaveLength(10);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Invite' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(members);
});
