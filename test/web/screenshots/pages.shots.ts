import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type DemoEvent, demoEvents } from '../../support/browser/demo-events.ts';
import { furnishSpace, nameSpace } from '../../support/browser/furnished-space.ts';
import { type ShownPage, shownPages } from '../../support/browser/shown-pages.ts';
import { type SpaceVisitor, useBrowser } from '../../support/browser/use-browser.ts';

/** Where the pictures are written. */
const directory = fileURLToPath(new URL('../../../screenshots', import.meta.url));
const windows = [
  { name: 'wide', width: 1_360, height: 850 },
  { name: 'narrow', width: 420, height: 860 },
];

const system = useBrowser();

test.for(['light', 'dark'] as const)('every page in the %s theme', { timeout: 300_000 }, async (theme) => {
  mkdirSync(directory, { recursive: true });
  for (const { name, ...size } of windows) {
    await using visitor = await system.visit({ theme, ...size });
    await using newcomer = await system.visit({ theme, ...size });
    const events = demoEvents();
    await nameSpace(newcomer);
    await furnishSpace(system, visitor, events);
    for (const shown of shownPages) {
      const owner = shown.isEmpty ? newcomer : visitor;
      await show(shown, owner, events);
      await owner.page.screenshot({ path: join(directory, `${shown.name}-${theme}-${name}.png`) });
    }
  }
  expect(shownPages.length).toBeGreaterThan(5);
});

async function show({ path, ready }: ShownPage, { page, spaceId }: SpaceVisitor, events: DemoEvent[]) {
  await page.goto(path({ spaceId, events }));
  await ready(page);
  // Fonts, and what is drawn a frame later.
  await page.waitForTimeout(300);
}
