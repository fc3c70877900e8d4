import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { projectEvents, projectionVersion } from '../../../event/projection.ts';
import { hashTerm, inSpace, type TermScope } from '../../../event/terms.ts';
import { splitElements } from '../../../event/text.ts';
import { compileBatchRules } from '../../../event/validate.ts';
import { type Columns, ColumnsSchema, PartSchema } from '../../../gen/weir/queue/v1/queue_pb.ts';
import type { Part } from '../../../platform/queue/group.ts';

/** The measured request: as many events as a request may have. */
export const partEvents = 500;

/** Parts with the events of real requests, which are stored repeatedly. */
export interface PartSource {
  /** The next part, with new ids, traces and a new segment. Its last event starts at `lastStartMs`. */
  next(spaceId: string, lastStartMs: number): Part;
}

interface Template {
  readonly columns: Columns;
  readonly body: Buffer;
  readonly rawBytes: number;
  /** Excludes the terms of traces. */
  readonly terms: readonly bigint[];
  readonly traces: readonly string[];
  /** The traces with an event of the state `error`. */
  readonly failedTraces: ReadonlySet<string>;
  readonly startTimesMs: readonly number[];
  readonly lastStartMs: number;
}

/** Parses, projects and compresses once, before the measurement. */
export function preparePartSource(events: readonly Buffer[]): PartSource {
  const templates = Array.from({ length: Math.floor(events.length / partEvents) || 1 }, (_, i) =>
    prepareTemplate(
      Array.from(
        { length: partEvents },
        (_, j) => events[(i * partEvents + j) % events.length] ?? Buffer.alloc(0),
      ),
    ),
  );
  let turn = 0;
  return {
    next(spaceId, lastStartMs) {
      const template = templates[turn++ % templates.length];
      if (template === undefined) throw new Error('there are no events');
      return copyOf(template, spaceId, lastStartMs);
    },
  };
}

const rules = compileBatchRules('weir');

function prepareTemplate(events: readonly Buffer[]): Template {
  const body = Buffer.from(`{"events":[${events.join(',')}]}`);
  const projection = projectEvents(rules.validateBatch(JSON.parse(body.toString())));
  const columns = create(ColumnsSchema, projection.columns);
  const traces = splitElements(columns.traceId);
  const states = splitElements(columns.state);
  const ofTraces = new Set(traces.flatMap((trace) => [termOf(trace, 'any'), termOf(trace, 'error')]));
  const startTimesMs = splitElements(columns.startTimeMs).map(Number);
  return {
    columns,
    body: zstdCompressSync(body),
    rawBytes: body.length,
    terms: projection.terms.filter((term) => !ofTraces.has(term)),
    traces,
    failedTraces: new Set(traces.filter((_, i) => states[i]?.includes('error'))),
    startTimesMs,
    lastStartMs: Math.max(...startTimesMs),
  };
}

function copyOf(template: Template, spaceId: string, lastStartMs: number): Part {
  const { columns, body, rawBytes, terms, traces, failedTraces, startTimesMs } = template;
  const fresh = new Map(
    [...new Set(traces)].map((trace) => [trace, trace === 'NULL' ? trace : randomUUID()]),
  );
  const traceTerms = [...fresh].flatMap(([trace, id]) => {
    if (trace === 'NULL') return [];
    return failedTraces.has(trace) ? [termOf(id, 'any'), termOf(id, 'error')] : [termOf(id, 'any')];
  });
  const laterMs = lastStartMs - template.lastStartMs;
  return create(PartSchema, {
    spaceId,
    apiKeyId: spaceId,
    segmentId: randomUUIDv7(),
    receivedAtMs: BigInt(Date.now()),
    eventCount: partEvents,
    projection: projectionVersion,
    rawBytes: BigInt(rawBytes),
    body,
    terms: inSpace(spaceId, [...terms, ...traceTerms]).join(','),
    columns: {
      ...columns,
      id: traces.map(() => randomUUID()).join(','),
      traceId: traces.map((trace) => fresh.get(trace)).join(','),
      startTimeMs: startTimesMs.map((ms) => ms + laterMs).join(','),
    },
  });
}

function termOf(traceId: string, scope: TermScope): bigint {
  return hashTerm({ column: 'traceId', value: traceId }, scope);
}
