-- The ledger of ids, and tables of events and segments that are partitioned by time (ADR 0016). drizzle-kit knows no
-- partitions, so this is written by hand; lib/db/schema.test.ts compares the result with schema.ts.
--
-- What is stored stays where it is: the old tables become the first partitions. ATTACH reads each of them once. The ids
-- are copied into the ledger afterwards (lib/db/ledger-fill.ts), before a writer stores anything.

CREATE TABLE "event_ids" (
	"space_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	CONSTRAINT "event_ids_space_id_id_pk" PRIMARY KEY("space_id","id")
);
--> statement-breakpoint
CREATE TABLE "ledger_fills" (
	"table_name" text PRIMARY KEY NOT NULL,
	"last_space_id" uuid,
	"last_id" uuid,
	"copied" bigint DEFAULT 0 NOT NULL,
	"completed_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "events" RENAME TO "events_initial";
--> statement-breakpoint
ALTER TABLE "events_initial" RENAME CONSTRAINT "events_space_id_id_pk" TO "events_initial_space_id_id_pk";
--> statement-breakpoint
ALTER INDEX "events_by_start_time" RENAME TO "events_initial_by_start_time";
--> statement-breakpoint
ALTER INDEX "events_by_trace" RENAME TO "events_initial_by_trace";
--> statement-breakpoint
CREATE TABLE "events" (LIKE "events_initial" INCLUDING DEFAULTS INCLUDING STORAGE) PARTITION BY RANGE ("segment_id");
--> statement-breakpoint
-- A constant default is not written into the rows that are there: transaction 0 is before all others.
ALTER TABLE "segments" ADD COLUMN "stored_xid" xid8 DEFAULT '0' NOT NULL;
--> statement-breakpoint
ALTER TABLE "segments" ALTER COLUMN "stored_xid" SET DEFAULT pg_current_xact_id();
--> statement-breakpoint
ALTER TABLE "segments" ADD COLUMN "min_start_ms" double precision;
--> statement-breakpoint
ALTER TABLE "segments" ADD COLUMN "max_start_ms" double precision;
--> statement-breakpoint
ALTER TABLE "segments" ADD COLUMN "terms" bigint[];
--> statement-breakpoint
ALTER TABLE "segments" RENAME TO "segments_initial";
--> statement-breakpoint
ALTER TABLE "segments_initial" RENAME CONSTRAINT "segments_space_id_id_pk" TO "segments_initial_space_id_id_pk";
--> statement-breakpoint
CREATE TABLE "segments" (
	LIKE "segments_initial" INCLUDING DEFAULTS INCLUDING STORAGE,
	CONSTRAINT "segments_space_id_id_pk" PRIMARY KEY("space_id","id")
) PARTITION BY RANGE ("id");
--> statement-breakpoint
-- The old tables hold what was received until now. Events of a replayed quarantine have a random segment id, and clocks
-- differ: what lies beyond moves into the default partition, from where partition upkeep takes what has one.
CREATE TABLE "segments_beyond" AS SELECT * FROM "segments" WITH NO DATA;
--> statement-breakpoint
CREATE TABLE "events_beyond" AS SELECT * FROM "events" WITH NO DATA;
--> statement-breakpoint
DO $$
DECLARE
	milliseconds text := lpad(to_hex(floor(extract(epoch FROM now()) * 1000)::bigint), 12, '0');
	bound uuid := (milliseconds || '00000000000000000000')::uuid;
BEGIN
	IF NOT EXISTS (SELECT FROM events_initial) AND NOT EXISTS (SELECT FROM segments_initial) THEN
		DROP TABLE events_initial, segments_initial;
		RETURN;
	END IF;
	WITH moved AS (DELETE FROM segments_initial WHERE id >= bound RETURNING *)
		INSERT INTO segments_beyond SELECT * FROM moved;
	IF EXISTS (SELECT FROM segments_beyond) THEN
		WITH moved AS (DELETE FROM events_initial WHERE segment_id >= bound RETURNING *)
			INSERT INTO events_beyond SELECT * FROM moved;
	END IF;
	EXECUTE format('ALTER TABLE segments ATTACH PARTITION segments_initial FOR VALUES FROM (MINVALUE) TO (%L)', bound);
	EXECUTE format('ALTER TABLE events ATTACH PARTITION events_initial FOR VALUES FROM (MINVALUE) TO (%L)', bound);
	INSERT INTO ledger_fills (table_name) VALUES ('events_initial');
END $$;
--> statement-breakpoint
-- ON ONLY: building an index of the first partition would stop its readers. It has those that it had.
CREATE INDEX "events_by_start_time" ON ONLY "events" USING btree ("space_id","start_time_ms" DESC NULLS LAST);
--> statement-breakpoint
CREATE INDEX "events_by_segment" ON ONLY "events" USING btree ("segment_id");
--> statement-breakpoint
CREATE INDEX "events_by_id" ON ONLY "events" USING hash ("id");
--> statement-breakpoint
CREATE INDEX "events_by_trace" ON ONLY "events" USING btree ("space_id","trace_id") WHERE "events"."trace_id" IS NOT NULL;
--> statement-breakpoint
CREATE INDEX "segments_by_term" ON ONLY "segments" USING gin ("terms");
--> statement-breakpoint
CREATE TABLE "segments_default" PARTITION OF "segments" DEFAULT;
--> statement-breakpoint
CREATE TABLE "events_default" PARTITION OF "events" DEFAULT;
--> statement-breakpoint
INSERT INTO "segments" SELECT * FROM "segments_beyond";
--> statement-breakpoint
INSERT INTO "events" SELECT * FROM "events_beyond";
--> statement-breakpoint
INSERT INTO "event_ids" SELECT "space_id", "id" FROM "events_beyond";
--> statement-breakpoint
DROP TABLE "segments_beyond", "events_beyond";
--> statement-breakpoint
ALTER TABLE "event_stats" RENAME TO "event_stats_initial";
--> statement-breakpoint
ALTER TABLE "event_stats_initial" RENAME CONSTRAINT "event_stats_space_id_minute_type_name_pk" TO "event_stats_initial_pk";
--> statement-breakpoint
-- Counters are updated in place: room on the page keeps those updates out of the index (HOT).
CREATE TABLE "event_stats" (
	"space_id" uuid NOT NULL,
	"minute" bigint NOT NULL,
	"type" text NOT NULL,
	"name" text NOT NULL,
	"source" text NOT NULL,
	"events" bigint NOT NULL,
	"duration_ms" double precision NOT NULL,
	"errors" bigint,
	"input_tokens" double precision,
	"output_tokens" double precision,
	"total_tokens" double precision,
	"cache_read_tokens" double precision,
	"cache_write_tokens" double precision,
	"reasoning_tokens" double precision,
	"latency" bigint[] NOT NULL,
	CONSTRAINT "event_stats_space_id_minute_type_name_source_pk" PRIMARY KEY("space_id","minute","type","name","source")
) WITH (fillfactor = 70);
--> statement-breakpoint
CREATE TABLE "agent_stats" (
	"space_id" uuid NOT NULL,
	"minute" bigint NOT NULL,
	"agent_id" text NOT NULL,
	"events" bigint NOT NULL,
	"duration_ms" double precision NOT NULL,
	"errors" bigint,
	"input_tokens" double precision,
	"output_tokens" double precision,
	"total_tokens" double precision,
	"cache_read_tokens" double precision,
	"cache_write_tokens" double precision,
	"reasoning_tokens" double precision,
	"latency" bigint[] NOT NULL,
	CONSTRAINT "agent_stats_space_id_minute_agent_id_pk" PRIMARY KEY("space_id","minute","agent_id")
) WITH (fillfactor = 70);
--> statement-breakpoint
-- A bucket of the old histogram becomes the bucket of the sketch (lib/event/latency.ts) that holds its geometric mean.
INSERT INTO "event_stats" ("space_id", "minute", "type", "name", "source", "events", "duration_ms", "errors",
	"input_tokens", "output_tokens", "total_tokens", "latency")
SELECT "space_id", "minute", "type", "name", '', "events", "duration_ms", nullif("errors", 0),
	nullif("input_tokens", 0), nullif("output_tokens", 0), nullif("total_tokens", 0),
	coalesce((
		SELECT array_agg((ceil(ln("mean") / ln(21.0::float8 / 19))::bigint + 70 << 40) | "counted" ORDER BY "mean")
		FROM unnest("latency", ARRAY[0.5, 1.41, 3.16, 7.07, 14.1, 31.6, 70.7, 141, 316, 707, 1414, 3162, 7071, 14142,
			31623, 70711, 141421, 316228, 707107]::float8[]) AS bucket("counted", "mean")
		WHERE "counted" > 0
	), '{}')
FROM "event_stats_initial";
--> statement-breakpoint
DROP TABLE "event_stats_initial";
