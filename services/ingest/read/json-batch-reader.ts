import { isUtf8 } from 'node:buffer';
import { IngestError } from '../../../event/errors.ts';
import type { IngestEvent } from '../../../event/event.ts';
import { isDeeperThan } from '../../../event/json/depth.ts';
import { parseEscapedKeys } from '../../../event/json/parse-escaped-keys.ts';
import { newScanState, type Range, skipSpace } from '../../../event/json/scan.ts';
import { Projector, projectEvents } from '../../../event/projection.ts';
import { hasOnlyEvents, joinEvents, locateEvents } from '../../../event/segment/cut.ts';
import { type BatchRules, tooDeep } from '../../../event/validate.ts';
import { eventsPerBatchMax, jsonDepthMax } from '../../../platform/limits.ts';
import { type BatchReader, CostlyBatchError, type ReadBatch, type ReadLimits } from './batch-reader.ts';
import { parseBody, withoutBom } from './parse-body.ts';
import { RepeatedInputs } from './repeated-inputs.ts';

/**
 * Creates the reader of JSON request bodies. Each event is located by its bytes, parsed, validated, projected
 * and released before the next one. Parsed as a whole, a batch of 3 MB is one string of 3 or 6 MB and some
 * 30,000 objects that live until the last event is read, and collecting them costs a third of ingest's CPU
 * time (ADR 0008).
 *
 * If this fast path rejects a body, the whole-body parser produces the error.
 */
export function createJsonBatchReader(rules: BatchRules, limits: ReadLimits): BatchReader {
  const { isEvent, validateBatch } = rules;
  return (sent) => {
    const bytes = withoutBom(sent);
    const batch = readEventByEvent(bytes, isEvent, limits.valuesMax);
    // A segment has no byte order mark.
    if (batch !== undefined) return bytes === sent ? batch : { body: Buffer.from(bytes), ...batch };
    if (bytes.length > limits.badBytesMax) throw new CostlyBatchError();
    const projection = projectEvents(validateBatch(parseBody(bytes)));
    return { projection, ...withoutRest(bytes, locateAll(bytes)) };
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
    // Body and array are two levels around each event. A deep member fails here, for the other parser.
    const scanState = newScanState(valuesMax, { depthMax: jsonDepthMax - 2, known: repeated });
    const { events, hasEscapedKey } = locateEvents(bytes, skipSpace(bytes, 0), {
      eventsMax: eventsPerBatchMax,
      scanState,
    });
    if (events.length === 0) return undefined;
    if (isDeeperThan(parse(withoutEvents(bytes, events), hasEscapedKey), jsonDepthMax)) return undefined;
    const projector = new Projector();
    for (const range of events) {
      const event = parse(repeated.textOf(bytes, range), range.hasEscapedKey);
      if (!isEvent(event)) return undefined;
      projector.add(event);
    }
    return { projection: projector.finish(), ...withoutRest(bytes, events) };
  } catch {
    return undefined;
  }
}

/**
 * The events of a valid body.
 * @throws IngestError `invalid_event_batch` for nesting that only a member has which a later one of its name
 * replaces: readers of segments do not go that deep.
 */
function locateAll(bytes: Buffer): readonly Range[] {
  const scanState = newScanState(Number.POSITIVE_INFINITY, { depthMax: jsonDepthMax - 1 });
  try {
    return locateEvents(bytes, skipSpace(bytes, 0), { scanState }).events;
  } catch (cause) {
    throw new IngestError('invalid_event_batch', tooDeep, { cause });
  }
}

/** Stores events only: other members of the body have no row, so no erasure would find them (ADR 0024). */
function withoutRest(bytes: Buffer, events: readonly Range[]): Pick<ReadBatch, 'body'> {
  return events.length === 0 || hasOnlyEvents(bytes, events) ? {} : { body: joinEvents(bytes, events) };
}

function parse(text: string, hasEscapedKey: boolean): unknown {
  return hasEscapedKey ? parseEscapedKeys(Buffer.from(text)) : JSON.parse(text);
}

/**
 * The body with a 0 in place of each event. This text and every event are valid JSON if and only if the whole
 * body is: a value may stand wherever another value stands.
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
