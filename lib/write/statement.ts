import { columnInDatabase, columnNames, columnTypes } from '../event/columns.ts';
import { latencyBucketsMs } from '../event/latency.ts';
import type { Part } from '../queue/group.ts';

/**
 * The one statement that stores events (design §1.4). A statement is its own transaction: rows, usage counter,
 * statistics and segments appear together or not at all, and only rows that were really inserted are counted,
 * so that a redelivered message changes nothing and bills nothing.
 *
 * Its parameters are the bodies of all parts, one after another, and then array literals as text: a row a part, and a
 * row an event. The bodies are one value, cut by position, so that nobody has to quote them.
 */
const partColumns = {
  space_id: 'uuid',
  api_key_id: 'uuid',
  segment_id: 'uuid',
  received_at: 'timestamptz',
  event_count: 'integer',
  raw_bytes: 'integer',
  body_start: 'integer',
  body_bytes: 'integer',
} as const;

const eventColumns = columnNames.map(columnInDatabase);
const partParameters = Object.values(partColumns).map((type, i) => `$${i + 2}::${type}[]`);
const eventParameters = ['integer', ...columnNames.map((name) => columnTypes[name])].map(
  (type, i) => `$${partParameters.length + i + 2}::${type}[]`,
);

/** What a client may claim as tokens is any finite number; sums must stay finite too. */
const clamped = (column: string) =>
  `coalesce(sum(least(greatest(${column}, -1e15), 1e15)) FILTER (WHERE ${column} IS NOT NULL), 0)`;

const latencyCounts = [...latencyBucketsMs, Infinity].map(
  (_, bucket) => `count(*) FILTER (WHERE latency_bucket = ${bucket})`,
);

export const storeStatement = `
WITH parts AS (
  SELECT * FROM unnest(${partParameters.join(', ')})
    WITH ORDINALITY AS part(${Object.keys(partColumns).join(', ')}, part)
), incoming AS (
  SELECT parts.space_id, parts.segment_id, parts.received_at, event.*
  FROM unnest(${eventParameters.join(', ')})
    WITH ORDINALITY AS event(part, ${eventColumns.join(', ')}, position)
  JOIN parts USING (part)
), inserted AS (
  INSERT INTO events (space_id, segment_id, received_at, ${eventColumns.join(', ')})
  SELECT space_id, segment_id, received_at, ${eventColumns.join(', ')} FROM incoming
  -- In key order: neighbours share pages, and concurrent writers lock in one order. The first of two equal ids wins.
  ORDER BY space_id, id, position
  ON CONFLICT DO NOTHING
  RETURNING space_id, segment_id, received_at, type, coalesce(name, '') AS name, state, start_time_ms, duration_ms,
    input_tokens, output_tokens, total_tokens
), usage AS (
  INSERT INTO usage_months AS kept (space_id, month, events)
  SELECT space_id, to_char(received_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*)
  FROM inserted GROUP BY space_id, month ORDER BY space_id, month
  ON CONFLICT (space_id, month) DO UPDATE SET events = kept.events + excluded.events
), stats AS (
  INSERT INTO event_stats AS kept
    (space_id, minute, type, name, events, errors, input_tokens, output_tokens, total_tokens, duration_ms, latency)
  SELECT space_id, floor(start_time_ms / 60000) AS minute, type, name, count(*), count(*) FILTER (WHERE state = 'error'),
    ${clamped('input_tokens')}, ${clamped('output_tokens')}, ${clamped('total_tokens')}, ${clamped('duration_ms')},
    ARRAY[${latencyCounts.join(', ')}]::integer[]
  FROM (
    SELECT *, width_bucket(duration_ms, ARRAY[${latencyBucketsMs.join(', ')}]::double precision[]) AS latency_bucket
    FROM inserted
  ) AS bucketed
  GROUP BY space_id, minute, type, name ORDER BY space_id, minute, type, name
  ON CONFLICT (space_id, minute, type, name) DO UPDATE SET
    events = kept.events + excluded.events,
    errors = kept.errors + excluded.errors,
    input_tokens = kept.input_tokens + excluded.input_tokens,
    output_tokens = kept.output_tokens + excluded.output_tokens,
    total_tokens = kept.total_tokens + excluded.total_tokens,
    duration_ms = kept.duration_ms + excluded.duration_ms,
    latency = (
      SELECT array_agg(pair.kept + pair.added ORDER BY pair.bucket)
      FROM unnest(kept.latency, excluded.latency) WITH ORDINALITY AS pair(kept, added, bucket)
    )
), segment AS (
  INSERT INTO segments (id, space_id, api_key_id, received_at, event_count, raw_bytes, body)
  SELECT segment_id, space_id, api_key_id, received_at, event_count, raw_bytes,
    substring($1::bytea FROM body_start FOR body_bytes)
  FROM parts
  -- A batch that was retried whole brings nothing new, and its second segment is not kept.
  WHERE EXISTS (SELECT FROM inserted WHERE inserted.segment_id = parts.segment_id)
  ON CONFLICT DO NOTHING
)
SELECT count(*)::integer AS inserted FROM inserted`;

/** The parameters of the statement for these parts, in its order. */
export function storeParameters(parts: readonly Part[]): (string | Buffer)[] {
  const perPart = (element: (part: Part) => string | number) => `{${parts.map(element).join(',')}}`;
  const bodies = Buffer.concat(parts.map((part) => part.body));
  let bodyStart = 1;
  const nextBodyStart = (part: Part) => {
    const start = bodyStart;
    bodyStart += part.body.length;
    return start;
  };
  return [
    bodies,
    perPart((part) => part.spaceId),
    perPart((part) => part.apiKeyId),
    perPart((part) => part.segmentId),
    perPart((part) => `"${new Date(Number(part.receivedAtMs)).toISOString()}"`),
    perPart((part) => part.eventCount),
    perPart((part) => Number(part.rawBytes)),
    perPart(nextBodyStart),
    perPart((part) => part.body.length),
    `{${parts.map((part, index) => repeated(String(index + 1), part.eventCount)).join(',')}}`,
    ...columnNames.map((name) =>
      // An empty column stands for NULLs: see weir.queue.v1.Columns.
      perPart((part) => part.columns?.[name] || repeated('NULL', part.eventCount)),
    ),
  ];
}

function repeated(element: string, count: number): string {
  return `${element},`.repeat(count).slice(0, -1);
}
