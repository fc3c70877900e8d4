import { openIngestClient } from '../../../cli/client/ingest-client.ts';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import { middle, type WebFigure } from './figure.ts';
import { rowSelector } from './pages.ts';
import { timeText } from './timing.ts';
import { inWindow, type WebBench } from './window.ts';

const times = 5;
const limitMs = 2_000;

/** Measures the time until open pages show an accepted event. */
export async function measureFollowing(bench: WebBench): Promise<WebFigure[]> {
  const { spaceId, ingestUrl: url, apiKey } = bench.connection;
  await using client = openIngestClient({ url, apiKey, connections: 1, timeoutMs: 30_000 });
  const post = async (model: string) => {
    // Newer than all events that the space was filled with.
    const endTimeMs = Date.now() + 300_000;
    const event = llmEvent({
      startTimeMs: endTimeMs - 10,
      endTimeMs,
      durationMs: 10,
      properties: { llm: { model, input: {}, output: {}, usage: {} } },
    });
    const { status } = await client.post(Buffer.from(JSON.stringify({ events: [event] })));
    if (status !== 202) throw new Error(`ingest answered ${status}`);
    return Date.now();
  };
  return await inWindow(bench, async (page) => {
    await page.goto(`/s/${spaceId}`);
    await page.getByRole('heading', { name: 'Recent events' }).waitFor();
    const overview: number[] = [];
    for (let i = 0; i < times; i++) {
      const shown = timeText(page, 'table a', `fresh-${i}`);
      const acceptedMs = await post(`fresh-${i}`);
      overview.push(Math.max(0, (await shown) - acceptedMs));
    }
    await page.goto(`/s/${spaceId}/events`);
    await page.locator(rowSelector).waitFor();
    const list: number[] = [];
    for (let i = 1; i <= times; i++) {
      const shown = timeText(page, 'button', `${i} new`);
      const acceptedMs = await post(`newer-${i}`);
      list.push(Math.max(0, (await shown) - acceptedMs));
    }
    return [
      { name: 'the overview: accepted to visible', value: middle(overview), limit: limitMs, unit: 'ms' },
      { name: 'the list: accepted to “N new”', value: middle(list), limit: limitMs, unit: 'ms' },
    ];
  });
}
