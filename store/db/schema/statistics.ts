import {
  bigint,
  boolean,
  doublePrecision,
  integer,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core';

/** Sums over events that the writer keeps for charts. */

/** Sums over events. Sums that are usually 0 are stored as null, which takes no space. */
const measures = () => ({
  events: bigint('events', { mode: 'number' }).notNull(),
  durationMs: doublePrecision('duration_ms').notNull(),
  errors: bigint('errors', { mode: 'number' }),
  inputTokens: doublePrecision('input_tokens'),
  outputTokens: doublePrecision('output_tokens'),
  totalTokens: doublePrecision('total_tokens'),
  cacheReadTokens: doublePrecision('cache_read_tokens'),
  cacheWriteTokens: doublePrecision('cache_write_tokens'),
  reasoningTokens: doublePrecision('reasoning_tokens'),
  /** A sketch of the durations: see event/latency.ts. */
  latency: bigint('latency', { mode: 'bigint' }).array().notNull(),
});

/**
 * Sums for charts, per minute of start time, type, model or tool, and source. A chart's cost does not grow
 * with the number of events.
 */
export const eventStats = pgTable(
  'event_stats',
  {
    spaceId: uuid('space_id').notNull(),
    /** Minutes since the epoch. */
    minute: bigint('minute', { mode: 'number' }).notNull(),
    type: text('type', { enum: ['llm', 'tool'] }).notNull(),
    /** Empty when the event has none. */
    name: text('name').notNull(),
    source: text('source').notNull(),
    ...measures(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.minute, table.type, table.name, table.source] })],
);

/** Sums per minute of start time and agent, of the events that have an agent. */
export const agentStats = pgTable(
  'agent_stats',
  {
    spaceId: uuid('space_id').notNull(),
    minute: bigint('minute', { mode: 'number' }).notNull(),
    agentId: text('agent_id').notNull(),
    ...measures(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.minute, table.agentId] })],
);

/** The span of a roll-up: `spanHours` hours from `startHour` on. */
const rollupSpan = () => ({
  /** 1 or 6. A day of any time zone consists of few of them. */
  spanHours: integer('span_hours').notNull(),
  /** Hours since the epoch, a multiple of spanHours. */
  startHour: bigint('start_hour', { mode: 'number' }).notNull(),
});

/**
 * The sums of event_stats over hours, added to by the same statement: a chart of a month reads few rows (ADR
 * 0021).
 */
export const eventStatsRollups = pgTable(
  'event_stats_rollups',
  {
    spaceId: uuid('space_id').notNull(),
    ...rollupSpan(),
    type: text('type', { enum: ['llm', 'tool'] }).notNull(),
    name: text('name').notNull(),
    source: text('source').notNull(),
    ...measures(),
  },
  (table) => [
    primaryKey({
      name: 'event_stats_rollups_pk',
      columns: [table.spaceId, table.spanHours, table.startHour, table.type, table.name, table.source],
    }),
  ],
);

/** The sums of agent_stats over hours. */
export const agentStatsRollups = pgTable(
  'agent_stats_rollups',
  {
    spaceId: uuid('space_id').notNull(),
    ...rollupSpan(),
    agentId: text('agent_id').notNull(),
    ...measures(),
  },
  (table) => [
    primaryKey({
      name: 'agent_stats_rollups_pk',
      columns: [table.spaceId, table.spanHours, table.startHour, table.agentId],
    }),
  ],
);

/** What a slice is of, besides its type, name and source (ADR 44). */
const sliceKey = () => ({
  /** 0: of all events. Otherwise the number of one of the space's dimensions. */
  dimension: smallint('dimension').notNull(),
  /**
   * `=` and the value of the dimension. Empty: all values that have no rows of their own, or dimension 0.
   * `-`: the events without a value, also those that were erased since the dimension was declared.
   */
  value: text('value').notNull(),
  type: text('type', { enum: ['llm', 'tool'] }).notNull(),
  name: text('name').notNull(),
  source: text('source').notNull(),
  /** See event/usage/price-class.ts; `+audioInput` at its end: the units of this part of the usage. */
  priceClass: text('price_class').notNull(),
});

const sliceSums = () => ({
  /** Units of a part of the usage (event/usage/usage-parts.ts). */
  usageUnits: doublePrecision('usage_units'),
  /** US dollars that senders reported. */
  reportedCost: numeric('reported_cost'),
});

/**
 * Sums of slices per minute. Rows with an empty price class count all events of a value. The others count the
 * tokens of those calls whose price depends on conditions once more, and parts of usage with prices of their
 * own. Dimension 0 has only such rows: `event_stats` counts all events (ADR 44).
 */
export const sliceStats = pgTable(
  'slice_stats',
  {
    spaceId: uuid('space_id').notNull(),
    minute: bigint('minute', { mode: 'number' }).notNull(),
    ...sliceKey(),
    ...measures(),
    ...sliceSums(),
  },
  (table) => [
    primaryKey({
      name: 'slice_stats_pk',
      columns: [
        ...([table.spaceId, table.dimension, table.minute, table.value] as const),
        ...([table.type, table.name, table.source, table.priceClass] as const),
      ],
    }),
  ],
);

/** The sums of slice_stats over hours. */
export const sliceStatsRollups = pgTable(
  'slice_stats_rollups',
  {
    spaceId: uuid('space_id').notNull(),
    ...rollupSpan(),
    ...sliceKey(),
    ...measures(),
    ...sliceSums(),
  },
  (table) => [
    primaryKey({
      name: 'slice_stats_rollups_pk',
      columns: [
        ...([table.spaceId, table.dimension, table.spanHours, table.startHour, table.value] as const),
        ...([table.type, table.name, table.source, table.priceClass] as const),
      ],
    }),
  ],
);

/**
 * Sums that store statements have written and that are not yet in the tables above (ADR 0040): each
 * event is counted either here or there. A statement adds rows that nobody else changes; a writer folds them
 * into the tables.
 */
export const statisticDeltas = pgTable(
  'statistic_deltas',
  {
    spaceId: uuid('space_id').notNull(),
    /** Only makes the key unique. */
    number: bigint('number', { mode: 'number' }).generatedAlwaysAsIdentity({ cache: 500 }),
    minute: bigint('minute', { mode: 'number' }).notNull(),
    type: text('type', { enum: ['llm', 'tool'] }).notNull(),
    name: text('name').notNull(),
    source: text('source').notNull(),
    agentId: text('agent_id'),
    ...measures(),
    /** Values of the space's dimensions: `NUMBER=VALUE`, or `NUMBER` without one; null without dimensions. */
    dimensionValues: text('dimension_values').array(),
    /** Whether only dimensions count the row: the other statistics do already, or do not change. */
    isOfDimensions: boolean('is_of_dimensions').notNull().default(false),
    /** Null: the row counts events. Otherwise it is of a slice, and counts none. */
    priceClass: text('price_class'),
    ...sliceSums(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.number] })],
);

/**
 * Times from the receipt of events until they were stored, by the time of storing. Writers add to it what
 * `space_commits` recorded (store/store-delays). Rows of `noSpace` count the events of all spaces.
 */
export const storeDelays = pgTable(
  'store_delays',
  {
    spaceId: uuid('space_id').notNull(),
    /** 5 or 60. */
    spanMinutes: integer('span_minutes').notNull(),
    /** Minutes since the epoch, a multiple of spanMinutes. */
    startMinute: bigint('start_minute', { mode: 'number' }).notNull(),
    events: bigint('events', { mode: 'number' }).notNull(),
    /** A sketch of the times in milliseconds: see event/latency.ts. */
    delays: bigint('delays', { mode: 'bigint' }).array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId, table.spanMinutes, table.startMinute] })],
);

/** The commits of each space that `store_delays` counts: all up to `number`. */
export const storeDelayPositions = pgTable(
  'store_delay_positions',
  {
    spaceId: uuid('space_id').notNull(),
    number: bigint('number', { mode: 'number' }).notNull(),
    /** The number before the last change: that change counted the commits after it. */
    previous: bigint('previous', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.spaceId] })],
);
