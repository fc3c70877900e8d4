import { setTimeout as sleep } from 'node:timers/promises';
import { openIngestClient } from '../../../cli/client/ingest-client.ts';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import type { WebFigure } from './figure.ts';
import { measureMotion } from './frames.ts';
import { motionFigures } from './motion-figures.ts';
import { timeText } from './timing.ts';
import { inWindow, type WebBench } from './window.ts';

const eventsPerSecond = 500;
const seconds = 8;
const requestsPerSecond = 10;

/** Measures the live tail at 500 events per second. */
export async function measureTail(bench: WebBench): Promise<WebFigure[]> {
  const { spaceId, ingestUrl: url, apiKey } = bench.connection;
  await using client = openIngestClient({ url, apiKey, connections: 4, timeoutMs: 30_000 });
  const post = async (names: string[]) => {
    const endTimeMs = Date.now();
    const events = names.map((model) =>
      llmEvent({
        startTimeMs: endTimeMs - 10,
        endTimeMs,
        durationMs: 10,
        properties: { llm: { model, input: { prompt: 'Hello' }, output: { response: 'Hi!' }, usage: {} } },
      }),
    );
    const { status } = await client.post(Buffer.from(JSON.stringify({ events })));
    if (status !== 202) throw new Error(`ingest answered ${status}`);
  };
  return await inWindow(bench, async (page) => {
    await page.goto(`/s/${spaceId}/live`);
    await page.getByText('Waiting for events').waitFor();
    // Repeats an event until the stream is open and shows it.
    const opened = timeText(page, '[role=gridcell]', 'opened');
    for (let isOpen = false; !isOpen; ) {
      await post(['opened']);
      isOpen = await Promise.race([opened.then(() => true), sleep(500).then(() => false)]);
    }
    const perRequest = Array.from({ length: eventsPerSecond / requestsPerSecond }, () => 'tailed');
    const motion = await measureMotion(page, async () => {
      const startedMs = performance.now();
      for (let i = 1; i <= seconds * requestsPerSecond; i++) {
        await post(perRequest);
        await sleep(Math.max(0, startedMs + (i * 1_000) / requestsPerSecond - performance.now()));
      }
    });
    const last = timeText(page, '[role=gridcell]', 'the last one');
    await post(['the last one']);
    const acceptedMs = Date.now();
    const shownMs = (await last) - acceptedMs;
    return [
      ...motionFigures(`the live tail at ${eventsPerSecond} events/s`, motion),
      { name: '  accepted to visible', value: Math.max(0, shownMs), limit: 1_000, unit: 'ms' },
    ];
  });
}
