import { expect, test } from 'vitest';
import { demoEvents } from '../../support/browser/demo-events.ts';
import { type BrowserSystem, passwordOfTests } from '../../support/browser/use-browser.ts';

/** The ways into the dashboard, and through it by keyboard. */
export function testEntry(system: BrowserSystem): void {
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
    // `test/clients/first-event.test.ts` runs the commands.
    await paste.getByText('py3-none-any.whl').waitFor();
    await system.send(apiKey, demoEvents().slice(0, 3));
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
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
    await page.getByRole('option', { name: /^Search events for/ }).waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
  });
}
