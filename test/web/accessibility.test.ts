import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { deleteSpace } from '../../operations/erasure-requests/space-deletion.ts';
import { operator } from '../../store/accounts/audit/audit.ts';
import { demoEvents } from '../support/browser/demo-events.ts';
import { furnishSpace } from '../support/browser/furnished-space.ts';
import { shownPages } from '../support/browser/shown-pages.ts';
import { useBrowser } from '../support/browser/use-browser.ts';

const system = useBrowser();

/** The rules of WCAG 2.2 AA, and best practices. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The axe-core script, in the version that AxeBuilder depends on. */
const axeScript = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
);
/** Avoids that AxeBuilder loads its 1.4 MB script twice per analysis, which takes most of the time. */
const isLoaded = 'void 0';

/**
 * Focus guards of Base UI keep the focus in an open dialog. They pass it on and never keep it, so they are
 * excluded.
 */
const focusGuards = '[data-base-ui-focus-guard]';

/**
 * Resolves when the page is rendered in the theme and animations have ended: contrasts differ while a dialog
 * fades in. Passed as a string: this file is type-checked without DOM types.
 */
async function showTheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(`(async () => {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const ending = document.getAnimations().filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime));
    await Promise.allSettled(ending.map(({ finished }) => finished));
  })()`);
}

/** All rules in the light theme; in the dark one the same page can only differ in contrasts. */
async function findViolations(page: Page, disabledRules: string[] = []): Promise<string[]> {
  // Only violations are reported, which saves most of the time. The pages have no frames.
  await page.evaluate(`if (globalThis.axe === undefined) { ${axeScript} }`);
  await showTheme(page, 'light');
  const light = await analyzer(page).withTags(tags).disableRules(disabledRules).analyze();
  await showTheme(page, 'dark');
  const dark = await analyzer(page).withRules(['color-contrast']).analyze();
  return [light, dark].flatMap(describeViolations);
}

/** For a page that has axe loaded. */
function analyzer(page: Page): AxeBuilder {
  return new AxeBuilder({ page, axeSource: isLoaded })
    .setLegacyMode()
    .exclude(focusGuards)
    .options({ resultTypes: ['violations'] });
}

function describeViolations({ violations }: Awaited<ReturnType<AxeBuilder['analyze']>>): string[] {
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join('\n    ')}`,
  );
}

/**
 * In the window of a phone: what can be scrolled sideways, the page or a part of it, and what scrolls but
 * cannot be focused. Lines of JSON as sent are not wrapped, since only lines of one height can be megabytes.
 */
async function findWide(page: Page): Promise<string[]> {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  await showTheme(page, 'light');
  const wide = await page.evaluate<string[]>(`[...document.querySelectorAll('*')]
    .filter((node) => node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0)
    .filter((node) => node.role !== 'tree')
    .filter((node) => node === document.documentElement || ['auto', 'scroll'].includes(getComputedStyle(node).overflowX))
    .map((node) => 'wide: ' + node.outerHTML.slice(0, 160))`);
  const scrolling = await analyzer(page).withRules(['scrollable-region-focusable']).analyze();
  if (size !== null) await page.setViewportSize(size);
  return [...wide, ...describeViolations(scrolling)];
}

test('no page, dialog or menu violates an accessibility rule in any theme, and no page is wider than a phone', {
  // Sixty CPU seconds, on a machine that does other work as well.
  timeout: 600_000,
}, async () => {
  await using visitor = await system.visit();
  await using newcomer = await system.visit();
  await using stranger = await system.visitSignedOut();
  const events = demoEvents();
  await furnishSpace(system, visitor, events);
  const found: Record<string, string[]> = {};
  for (const { name, path, ready, isEmpty } of shownPages) {
    const { page, spaceId } = isEmpty ? newcomer : visitor;
    await page.goto(path({ spaceId, events }));
    await ready(page);
    found[name] = [...(await findViolations(page)), ...(await findWide(page))];
  }
  const { page, spaceId } = visitor;
  await page.goto(`/s/${spaceId}/members`);
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByRole('dialog').waitFor();
  found.dialog = await findViolations(page);
  await page.getByLabel('E-mail address').fill('someone@example.org');
  await system.pipeline.sql`UPDATE sessions SET authenticated_at = now() - interval '1 day'`;
  await page.getByRole('button', { name: 'Create the link' }).click();
  await page.getByLabel('Your password').waitFor();
  found.confirmation = await findViolations(page);
  await page.keyboard.press('Escape');
  await page.getByLabel('Your password').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  found.keyboard = await findViolations(page);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /^Space/ }).click();
  await page.getByRole('menu').waitFor();
  // An open menu is outside of the landmarks.
  found.menu = await findViolations(page, ['region']);
  await deleteSpace(system.pipeline.database, newcomer.spaceId, { actor: operator });
  await newcomer.page.goto(`/s/${newcomer.spaceId}`);
  await newcomer.page.getByRole('heading', { name: 'This space is deleted' }).waitFor();
  found.deletedSpace = [...(await findViolations(newcomer.page)), ...(await findWide(newcomer.page))];
  await stranger.page.goto('/sign-in');
  await stranger.page.getByLabel('Password').waitFor();
  found.signIn = await findViolations(stranger.page);
  expect(Object.fromEntries(Object.entries(found).filter(([, problems]) => problems.length > 0))).toEqual({});
});

test('with reduced motion nothing is animated: a theme is there at once', async () => {
  await using visitor = await system.visit();
  const { page } = visitor;
  await furnishSpace(system, visitor, demoEvents());
  await page.getByRole('heading', { name: 'Recent events' }).waitFor();
  // Counts at each of the next frames. A transition of a colour that is inherited would go through the page
  // level by level.
  const counts = page.evaluate<number[]>(`(async () => {
    const counts = [];
    while (counts.length < 30 || !matchMedia('(prefers-color-scheme: dark)').matches)
      counts.push(await new Promise((drawn) => requestAnimationFrame(() => drawn(document.getAnimations().length))));
    return counts;
  })()`);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(Math.max(...(await counts))).toBe(0);
});
