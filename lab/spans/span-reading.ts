import process from 'node:process';
import { compileBatchRules } from '../../event/validate.ts';
import { createSpanReaders } from '../../services/ingest/otlp/batch/span-readers.ts';
import { unlimited } from '../../services/ingest/read/batch-reader.ts';
import { createBatchReaders } from '../../services/ingest/read/batch-readers.ts';
import { median } from '../median.ts';
import { prepareSpanBodies } from '../peers/bodies.ts';

/** Real events of up to this size have spans of 6 KB, all of them spans of 11 KB. */
const smallBytesMax = 8_085;

/**
 * Measures the CPU time of reading requests of 512 spans: locate, map, validate, project, write. Beside it
 * that of reading the events that result, as JSON.
 *
 * @returns medians of `rounds`, in milliseconds for 100 spans or events, by bytes of a span.
 */
export function measureSpanReading(events: readonly Buffer[], rounds: number): Record<string, number> {
  const rules = compileBatchRules('weir');
  const { otlp } = createSpanReaders('weir', unlimited, rules);
  const { json } = createBatchReaders('weir', unlimited, rules);
  const figures: Record<string, number> = {};
  for (const list of [events.filter(({ length }) => length < smallBytesMax), events]) {
    const next = prepareSpanBodies(list);
    const bodies = [next(), next()];
    const parts = bodies.flatMap(({ bytes }) => otlp(bytes).parts);
    const spanCount = bodies.reduce((sum, { items }) => sum + items, 0);
    const eventCount = parts.reduce((sum, { projection }) => sum + projection.eventCount, 0);
    const size = Math.round(bodies.reduce((sum, { bytes }) => sum + bytes.length, 0) / spanCount);
    const times: { otlp: number[]; json: number[] } = { otlp: [], json: [] };
    for (let round = 0; round < rounds; round++) {
      times.otlp.push((100 * cpuMs(() => bodies.map(({ bytes }) => otlp(bytes)))) / spanCount);
      times.json.push((100 * cpuMs(() => parts.map(({ body }) => json(body)))) / eventCount);
    }
    figures[`spans of ${size} bytes, ms for 100`] = median(times.otlp);
    figures[`their events as JSON, ms for 100`] = median(times.json);
  }
  return figures;
}

function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
