// Fills the SDK to its bounds while Weir is unreachable, and prints how much more memory the process uses.
// Run with --expose-gc.

import process from 'node:process';
import { Weir } from '../src/index.ts';
import { benchEvent } from './event.ts';

const size = Number(process.argv[2]);
const collect = () => {
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
};

const weir = new Weir({ url: 'http://127.0.0.1:9', apiKey: 'key', flushOnExit: false });
const before = collect();
while (weir.stats().droppedByReason.queue_full === undefined) weir.record(benchEvent(size));
// The failed request allocates the largest body and its compressed form.
await weir.flush({ timeoutMs: 1_000 });
const { pending } = weir.stats();
process.send?.({ pending, bytes: collect() - before, residentBytes: process.memoryUsage.rss() });
process.disconnect?.();
