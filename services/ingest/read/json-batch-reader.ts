import { isUtf8 } from 'node:buffer';
import type { IngestEvent } from '../../../event/event.ts';
import { isDeeperThan } from '../../../event/json/depth.ts';
import { parseEscapedKeys } from '../../../event/json/parse-escaped-keys.ts';
import { newScanState, type Range } from '../../../event/json/scan.ts';
import { Projector, projectEvents } from '../../../event/projection.ts';
import { hasOnlyEvents, joinEvents, locateEvents } from '../../../event/segment/cut.ts';
import type { BatchRules } from '../../../event/validate.ts';
import { eventsPerBatchMax, jsonDepthMax } from '../../../platform/limits.ts';
import { type BatchReader, CostlyBatchError, type ReadBatch, type ReadLimits } from './batch-reader.ts';
import { parseBody } from './parse-body.ts';
import { RepeatedInputs } from './repeated-inputs.ts';

/**
 * Creates the reader of JSON request bodies. Each event is located by its bytes, parsed, validated, projected and released
 * before the next one. Parsed as a whole, a batch of 3 MB is one string of 3 or 6 MB and some 30,000 objects that live
 * until the last event is read, and collecting them costs a third of ingest's CPU time (ADR 0008).
 *
 * If this fast path rejects a body, the whole-body parser produces the error.
 */
export function createJsonBatchReader(rules: BatchRules, limits: ReadLimits): BatchReader {
  const { isEvent, validateBatch } = rules;
  return (bytes) => {
    const batch = readEventByEvent(bytes, isEvent, limits.valuesMax);
    if (batch !== undefined) return batch;
    if (bytes.length > limits.badBytesMax) throw new CostlyBatchError();
    return { projection: projectEvents(validateBatch(parseBody(bytes))) };
  };
}

/** @returns undefined when the body is invalid, has no events, or has more than `valuesMax` values. */
function readEventByEvent(
  bytes: Buffer,
  isEvent: (value: unknown) => value is IngestEvent,
  valuesMax: number,
): ReadBatch | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const repeated = new RepeatedInputs();
    // The body and its array are two levels around each event. A deep member of the body has the same bound here: then the other parser decides.
    const scanState = newScanState(valuesMax, { depthMax: jsonDepthMax - 2, known: repeated });
    const { events, hasEscapedKey } = locateEvents(bytes, 0, { eventsMax: eventsPerBatchMax, scanState });
    if (events.length === 0) return undefined;
    if (isDeeperThan(parse(withoutEvents(bytes, events), hasEscapedKey), jsonDepthMax)) return undefined;
    const projector = new Projector();
    for (const range of events) {
      const event = parse(repeated.textOf(bytes, range), range.hasEscapedKey);
      if (!isEvent(event)) return undefined;
      projector.add(event);
    }
    const projection = projector.finish();
    // Store events only: other members of the body have no row, so no erasure would find them (ADR 0024).
    return hasOnlyEvents(bytes, events) ? { projection } : { projection, body: joinEvents(bytes, events) };
  } catch {
    return undefined;
  }
}

function parse(text: string, hasEscapedKey: boolean): unknown {
  return hasEscapedKey ? parseEscapedKeys(Buffer.from(text)) : JSON.parse(text);
}

/**
 * The body with a 0 in place of each event. This text and every event are valid JSON if and only if the whole body is: a
 * value may stand wherever another value stands.
 */
function withoutEvents(bytes: Buffer, events: readonly Range[]): string {
  let rest = '';
  let end = 0;
  for (const event of events) {
    rest += `${bytes.toString('utf8', end, event.start)}0`;
    end = event.end;
  }
  return rest + bytes.toString('utf8', end);
}
