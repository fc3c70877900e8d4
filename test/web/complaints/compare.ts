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
    await page.getByText('1 message differs.').waitFor();
    await page.getByRole('tab', { name: 'Prompt' }).click();
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

  test('two turns of a long chat are compared message by message, with their words, values and costs, and so are two traces', async () => {
    await using visitor = await system.visit();
    const { page, apiKey, spaceId } = visitor;
    const chat = Array.from({ length: 60 }, (_, place) => ({
      role: place % 2 === 0 ? 'user' : 'assistant',
      content: `message ${place + 1} of the chat about the red door`,
    }));
    const changed = chat.with(40, { role: 'user', content: 'message 41 of the chat about the blue door' });
    const traces = ['3f6f1c3e-0c5e-4d0c-9a55-3b1f4c1d2e01', '3f6f1c3e-0c5e-4d0c-9a55-3b1f4c1d2e02'];
    const usage = { inputTokens: 1_000, outputTokens: 100, totalTokens: 1_100 };
    const [a, b] = [chat, changed].map((messages, place) =>
      llmEvent(
        { model: 'gpt-4o', input: { prompt: JSON.stringify(messages) }, output: { response: 'done' }, usage },
        {
          startTimeMs: Date.now() - 2_000,
          traceId: traces[place],
          additionalProperties: { temperature: place },
        },
      ),
    );
    await system.send(apiKey, [a ?? {}, b ?? {}]);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();

    await page.goto(`/s/${spaceId}/compare?a=${a?.id}&b=${b?.id}`);
    await page.getByText('1 message differs.').waitFor();
    expect(await page.locator('del').allTextContents()).toEqual(['red']);
    expect(await page.locator('ins').allTextContents()).toEqual(['blue']);
    await page.getByRole('button', { name: /^Show \d+ equal values$/ }).click();
    await page.getByRole('row', { name: 'Cost of output $' }).waitFor();
    const values = page.getByRole('row', { name: 'temperature' }).getByRole('cell');
    expect(await values.allTextContents()).toEqual(['0', '1']);
    expect(await values.first().getAttribute('data-changed')).toBe('true');
    await page.getByRole('button', { name: '40 unchanged messages' }).click();
    await page.getByText('message 40 of the chat').waitFor();

    await page.goto(`/s/${spaceId}/traces/${traces[1]}`);
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByLabel('Id of the first trace').fill(traces[0] ?? '');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('No differences.').waitFor();
    await page.getByRole('link', { name: 'Compare the two events' }).click();
    await page.waitForURL((url) => url.search === `?a=${a?.id}&b=${b?.id}`);
  });
}
