import { expect } from 'vitest';
import { Weir } from '../../src/index.ts';
import { fileSpool } from '../../src/spool.ts';
import { llmEvent } from './events.ts';
import { eventually } from './eventually.ts';
import { VirtualRuntime } from './virtual-runtime.ts';
import type { WeirStub } from './weir-stub.ts';

export interface OutageOptions {
  stub: WeirStub;
  /** The directory of the spool. */
  directory: string;
  eventsPerSecond: number;
  prompt: string;
}

export interface Outage {
  recorded: number;
  delivered: number;
  duplicates: number;
  dropped: number;
  /** The maxima, sampled every second, of events outside of the spool and of bytes in it. */
  memoryEventsMax: number;
  spoolBytesMax: number;
}

const outageSeconds = 3_600;

/** More than the compressed segments of the outage. */
const compressedBytesMax = 512 * 1024 ** 2;

/**
 * Makes Weir unreachable for an hour of virtual time while events are recorded, and waits until all are
 * delivered.
 */
export async function runOutage({
  stub,
  directory,
  eventsPerSecond,
  prompt,
}: OutageOptions): Promise<Outage> {
  await stub.close();
  const runtime = new VirtualRuntime();
  const spool = fileSpool({ directory });
  const weir = new Weir({ url: stub.url, apiKey: 'key', flushOnExit: false, runtime, spool });
  let memoryEventsMax = 0;
  let spoolBytesMax = 0;
  for (let second = 0; second < outageSeconds; second++) {
    for (let i = 0; i < eventsPerSecond; i++) weir.record(llmEvent(prompt));
    await runtime.advance(1_000);
    // The hour takes a minute: wait for the compression of full segments, which keeps up in real time.
    while (spool.bytes > compressedBytesMax) await new Promise(setImmediate);
    const { pending, spooled } = weir.stats();
    memoryEventsMax = Math.max(memoryEventsMax, pending - spooled);
    spoolBytesMax = Math.max(spoolBytesMax, spool.bytes);
  }
  await stub.open();
  await eventually(async () => {
    await runtime.advance(1_000);
    expect(weir.stats().pending).toBe(0);
  }, 300_000);
  const { recorded, dropped } = weir.stats();
  const deliveries = [...stub.deliveries.values()];
  const duplicates = deliveries.filter((count) => count > 1).length;
  await weir.shutdown();
  return { recorded, dropped, delivered: deliveries.length, duplicates, memoryEventsMax, spoolBytesMax };
}
