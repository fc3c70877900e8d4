import { expect, test } from 'vitest';
import type { BrowserSystem } from '../../support/browser/use-browser.ts';
import { llmEvent } from './sent-event.ts';

/** Comparison of two events of a thread. */
export function testCompare(system: BrowserSystem): void {
  test('two prompts of a thread are compared line by line with their white space, side by side and in one column', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
    const context = { threadId: 'thread-1' };
    const now = Date.now();
    const at = (endTimeMs: number) => ({ startTimeMs: endTimeMs - 250, endTimeMs, context });
    const before = llmEvent({ input: { prompt: lines.join('\n') } }, at(now - 9_000));
    const changed = lines.with(19, 'line  20\t').join('\n');
    const after = llmEvent({ input: { prompt: changed } }, at(now - 1_000));
    await system.send(apiKey, [before, after]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();

    await page.goto(`/s/${spaceId}/events/${after.id}`);
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('menuitem', { name: 'With the previous event of the thread' }).click();
    await page.waitForURL((url) => url.search === `?a=${before.id}&b=${after.id}`);
    const differences = page.getByRole('region', { name: 'Differences' });
    await page.getByText('1 line removed, 1 line added.').waitFor();
    expect(await differences.locator('[data-line=removed]').textContent()).toBe('line 20');
    expect(await differences.locator('[data-line=added]').textContent()).toBe('line  20\t');
    expect(await differences.getByText('line 1', { exact: true }).count()).toBe(0);
    await differences.getByRole('button', { name: '16 unchanged lines' }).click();
    await differences.getByText('line 1', { exact: true }).first().waitFor();

    await page.getByRole('button', { name: 'In one column' }).click();
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.waitForURL(
      (url) => url.searchParams.get('part') === 'json' && url.searchParams.get('look') === 'unified',
    );
    await differences.locator('[data-line=added]').getByText(after.id).waitFor();
    await page.reload();
    await differences.locator('[data-line=added]').getByText(after.id).waitFor();

    // In the thread, the second prompt is shown from its first difference on.
    await page.goto(`/s/${spaceId}/threads/thread-1`);
    const repeated = page.getByRole('button', { name: '19 lines as before' });
    await repeated.waitFor();
    const turn = page.getByRole('article').last();
    await turn.getByText('line 40').waitFor();
    expect(await turn.getByText('line 19').count()).toBe(0);
    await repeated.click();
    await turn.getByText('line 19').waitFor();
  });
}
