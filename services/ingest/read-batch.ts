import { isUtf8 } from 'node:buffer';
import type { IngestEvent } from '../../lib/event/event.ts';
import { type Projection, Projector, projectEvents } from '../../lib/event/projection.ts';
import type { BatchRules } from '../../lib/event/validate.ts';
import { isDeeperThan } from '../../lib/json/depth.ts';
import { parseApart } from '../../lib/json/parse-apart.ts';
import type { Range } from '../../lib/json/scan.ts';
import { eventsPerBatchMax, jsonDepthMax } from '../../lib/limits.ts';
import { locateEvents } from '../../lib/segment/cut.ts';
import { parseJson } from './parse.ts';
import { CostlyBatchError, type ReadLimits } from './read-limits.ts';
import type { BatchReader } from './readers.ts';

/**
 * A reader of request bodies in JSON. A body is read event by event: found by its bytes, parsed, validated, projected, let
 * go. Parsed as a whole, a batch of 3 MB is one string of 3 or 6 MB and some 30,000 objects that live until the last event,
 * and collecting that garbage costs a third of ingest's time (ADR 0008).
 *
 * Whatever is not as it should be is read again as a whole: that way alone decides what is wrong, and says so.
 */
export function createBatchReader({ isEvent, validateBatch }: BatchRules, limits: ReadLimits): BatchReader {
  return (bytes) => {
    const projection = readEventwise(bytes, isEvent, limits.valuesMax);
    if (projection !== undefined) return { projection };
    if (bytes.length > limits.badBytesMax) throw new CostlyBatchError();
    return { projection: projectEvents(validateBatch(parseJson(bytes))) };
  };
}

/** @returns undefined when the body is anything but valid, cannot be told to be, or has too many values. */
function readEventwise(
  bytes: Buffer,
  isEvent: (value: unknown) => value is IngestEvent,
  valuesMax: number,
): Projection | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const { events, hasBackslashFirst } = locateEvents(bytes, 0, { eventsMax: eventsPerBatchMax, valuesMax });
    const parse = hasBackslashFirst ? parseApart : JSON.parse;
    if (events.length === 0) return undefined;
    if (isDeeperThan(parse(withoutEvents(bytes, events)), jsonDepthMax)) return undefined;
    const projector = new Projector();
    for (const { start, end } of events) {
      const event: unknown = parse(bytes.toString('utf8', start, end));
      // The body and its array are two levels already.
      if (!isEvent(event) || isDeeperThan(event, jsonDepthMax - 2)) return undefined;
      projector.add(event);
    }
    return projector.finish();
  } catch {
    return undefined;
  }
}

/**
 * The body with a 0 in the place of each event. It is JSON, and each event is, exactly when the whole body is: they
 * differ in values only, and a value may stand where a value stood.
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
