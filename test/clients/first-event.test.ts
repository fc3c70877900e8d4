import { test } from 'vitest';
import { findMissingTool, type Tool } from '../../harness/tools/toolchain.ts';
import { runSnippet } from '../support/browser/snippet.ts';
import { useBrowser } from '../support/browser/use-browser.ts';

const system = useBrowser();

/** Tabs that install packages or need a toolchain. `test/web/complaints.test.ts` runs the others. */
const tabs: readonly [label: string, tool: Tool][] = [
  ['OpenTelemetry', 'npm'],
  ['Python', 'python3'],
  ['Go', 'go'],
];

for (const [label, tool] of tabs) {
  const missing = findMissingTool([tool]);
  test(`the snippet of the tab ${label} sends events from an empty folder`, {
    timeout: 360_000,
    skip: missing !== undefined,
  }, async () => {
    await using visitor = await system.visit();
    await runSnippet(visitor, label);
    await visitor.page.getByRole('heading', { name: 'Recent events' }).waitFor();
  });
}
