import { randomUUID } from 'node:crypto';
import { mediaBytesMax } from '../../platform/limits.ts';
import type { Sql } from '../../store/db/connect.ts';
import type { Database } from '../../store/db/database.ts';
import { storeMedia } from '../../store/media/store-media.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { llmEvent, toolEvent } from '../fixtures/events.ts';
import { insertParts } from '../fixtures/insert-parts.ts';
import { mediaOf } from '../fixtures/media.ts';
import { partOf } from '../fixtures/part.ts';

/**
 * A space with the worst data that the contract allows, for what each call of the dashboard API costs at
 * most.
 */
export interface HeavySpace {
  readonly spaceId: string;
  /**
   * The ids of a trace of 5,000 events and 10,000 spans, of its thread and user, and of an event of 3.9 MB.
   */
  readonly traceId: string;
  readonly threadId: string;
  readonly userId: string;
  readonly eventId: string;
  /** The id of an event of 3.9 MB with a million values. */
  readonly valuesEventId: string;
  /** The largest media. */
  readonly mediaId: string;
  /** The statistics are of these times. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface HeavySizes {
  /** Models that are used in every minute of the statistics. */
  readonly models: number;
  readonly minutes: number;
  readonly prices: number;
}

const minuteMs = 60_000;
const traceEvents = 5_000;
const eventsPerBatch = 500;
const traceSpans = 10_000;
/** As long as a column holds. */
const longText = 'ü'.repeat(256);

export async function fillHeavySpace(
  { sql, database }: { sql: Sql; database: Database },
  spaceId: string,
  { models, minutes, prices }: HeavySizes,
): Promise<HeavySpace> {
  const toMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const fromMs = toMs - minutes * minuteMs;
  const traceId = randomUUID();
  const [eventId, valuesEventId] = [randomUUID(), randomUUID()];
  await addTrace(database, { spaceId, traceId, startMs: toMs });
  const large = llmEvent({ id: eventId, startTimeMs: toMs, properties: longCall('"\\\n'.repeat(650_000)) });
  await insertParts(database, [partOf(spaceId, [large])]);
  const input = Array.from({ length: 1_300_000 }, () => []);
  const many = toolEvent({
    id: valuesEventId,
    startTimeMs: toMs,
    properties: { tool: { name: 'values', input } },
  });
  await insertParts(database, [partOf(spaceId, [many])]);
  const mediaId = 'm'.repeat(22);
  const data = Buffer.alloc(mediaBytesMax, '<');
  await storeMedia(database, spaceId, [
    { receivedAtMs: BigInt(toMs), media: { ...mediaOf({ id: mediaId }), data } },
  ]);
  await foldStatistics(database);
  await sql`INSERT INTO trace_nodes (space_id, trace_id, span_id, parent_span_id, kind, name, state, start_time_ms, end_time_ms, received_at)
    SELECT ${spaceId}, ${traceId}, lpad(to_hex(n), 16, '0'), lpad(to_hex(n - 1), 16, '0'), 'agent', ${longText}, 'ok',
      ${toMs}::float8 + n, ${toMs}::float8 + n + 1, now() FROM generate_series(1, ${traceSpans}::integer) AS n`;
  await sql`INSERT INTO model_prices (space_id, model, valid_from, input, output)
    SELECT ${spaceId}, 'model-' || n % 10, current_date - n / 10, 1, 2 FROM generate_series(0, ${prices - 1}::integer) AS n`;
  await addStatistics(sql, spaceId, { models, minutes, firstMinute: fromMs / minuteMs });
  return {
    spaceId,
    traceId,
    threadId: longText,
    userId: longText,
    eventId,
    valuesEventId,
    mediaId,
    fromMs,
    toMs,
  };
}

/** A call with a long prompt. */
function longCall(prompt: string): object {
  const toolCalls = Array.from({ length: 8 }, (_, call) => ({ id: String(call), name: `tool-${call}` }));
  return {
    llm: { model: longText, input: { prompt }, output: { mode: 'text', response: longText, toolCalls } },
  };
}

async function addTrace(
  database: Database,
  { spaceId, traceId, startMs }: { spaceId: string; traceId: string; startMs: number },
): Promise<void> {
  const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`key-${n}`, longText]));
  const makeEvent = (place: number) => {
    const make = place % 2 === 0 ? llmEvent : toolEvent;
    return make({
      traceId,
      // Each lies within the one before.
      startTimeMs: startMs + place,
      endTimeMs: startMs + 3 * traceEvents - place,
      durationMs: 3 * traceEvents - 2 * place,
      status: { state: 'error', error: { code: longText, message: `${longText} ${place}` } },
      context: { threadId: longText, userId: longText, agentId: longText, agentGroupId: longText },
      additionalProperties: attributes,
      properties:
        make === llmEvent ? longCall(longText) : { tool: { name: `tool-${place % 8}`, input: longText } },
    });
  };
  for (let from = 0; from < traceEvents; from += eventsPerBatch)
    await insertParts(database, [
      partOf(
        spaceId,
        Array.from({ length: eventsPerBatch }, (_, n) => makeEvent(from + n)),
      ),
    ]);
}

/**
 * Writes statistics as the writer folds them: every model in each minute, in long names. Postgres has not
 * analyzed them.
 */
async function addStatistics(
  sql: Sql,
  spaceId: string,
  { models, minutes, firstMinute }: { models: number; minutes: number; firstMinute: number },
): Promise<void> {
  const sketch = '{4503599627370497,9007199254740993,13510798882111489}';
  await sql`INSERT INTO event_stats (space_id, minute, type, name, source, events, duration_ms, input_tokens, output_tokens, latency)
    SELECT ${spaceId}, ${firstMinute}::bigint + minute, 'llm', 'model-' || model || repeat('x', 200), 's', 3, 10, 1000, 100, ${sketch}::bigint[]
    FROM generate_series(0, ${minutes - 1}::integer) AS minute, generate_series(0, ${models - 1}::integer) AS model`;
  for (const spanHours of [1, 6])
    await sql`INSERT INTO event_stats_rollups (space_id, span_hours, start_hour, type, name, source, events, duration_ms, input_tokens, output_tokens, latency)
      SELECT space_id, ${spanHours}::integer, minute / (60 * ${spanHours}::bigint) * ${spanHours}::bigint, type, name, source,
        sum(events), sum(duration_ms), sum(input_tokens), sum(output_tokens), ${sketch}::bigint[]
      FROM event_stats WHERE space_id = ${spaceId} AND name LIKE 'model-%' GROUP BY 1, 3, 4, 5, 6
      ON CONFLICT DO NOTHING`;
}
