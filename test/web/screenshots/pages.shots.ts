import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type DemoEvent, demoEvents } from '../../support/browser/demo-events.ts';
import { furnishSpace, nameSpace } from '../../support/browser/furnished-space.ts';
import { type ShownPage, shownPages } from '../../support/browser/shown-pages.ts';
import { type SpaceVisitor, useBrowser } from '../../support/browser/use-browser.ts';
import { reduceColours } from './palette-png.ts';

/** Output directory of the pictures. */
const directory = fileURLToPath(new URL('../../../screenshots', import.meta.url));
/** Padding below the content of a picture for the documents, in pixels. */
const cutMargin = 24;
/** Everybody who clones the repository downloads the pictures of its documents. */
const pictureBytesMax = 120_000;
const windows = [
  { name: 'wide', width: 1_360, height: 850 },
  { name: 'narrow', width: 420, height: 860 },
];

const system = useBrowser();

test.for(['light', 'dark'] as const)('every page in the %s theme', { timeout: 600_000 }, async (theme) => {
  mkdirSync(join(directory, 'documents'), { recursive: true });
  for (const { name, ...size } of windows) {
    await using visitor = await system.visit({ theme, ...size });
    await using newcomer = await system.visit({ theme, ...size });
    const events = demoEvents();
    await nameSpace(newcomer);
    await furnishSpace(system, visitor, events);
    for (const shown of shownPages) {
      const owner = shown.isEmpty ? newcomer : visitor;
      await show(shown, owner, events);
      if (shown.name === 'live') await fillLive(owner);
      await owner.page.screenshot({ path: join(directory, `${shown.name}-${theme}-${name}.png`) });
      if (theme === 'light' && name === 'wide') await cut(shown.name, owner.page, size);
    }
  }
  expect(shownPages.length).toBeGreaterThan(5);
});

/** The live page only shows events that arrive while it is open. */
async function fillLive({ apiKey, page }: SpaceVisitor) {
  await system.send(apiKey, demoEvents());
  await page.getByRole('row').nth(5).waitFor();
}

/** The picture for the documents, cropped below the content. */
async function cut(name: string, page: Page, { width, height }: { width: number; height: number }) {
  const bottom = await page.evaluate<number>(`(() => {
    const parts = document.querySelectorAll('main section, main article, main figure, main table, main [role=row], main [role=treeitem], main header, nav a');
    return parts.length === 0 ? innerHeight : Math.max(...[...parts].map((part) => part.getBoundingClientRect().bottom));
  })()`);
  const clip = { x: 0, y: 0, width, height: Math.min(height, Math.ceil(bottom) + cutMargin) };
  const picture = reduceColours(await page.screenshot({ clip }));
  expect(picture.length, name).toBeLessThan(pictureBytesMax);
  writeFileSync(join(directory, 'documents', `${name}.png`), picture);
}

async function show({ path, ready }: ShownPage, { page, spaceId }: SpaceVisitor, events: DemoEvent[]) {
  await page.goto(path({ spaceId, events }));
  await ready(page);
  // Waits for fonts, and for content that is drawn one frame later.
  await page.waitForTimeout(300);
}
