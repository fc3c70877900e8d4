CREATE TABLE "agent_stats_rollups" (
	"space_id" uuid NOT NULL,
	"span_hours" integer NOT NULL,
	"start_hour" bigint NOT NULL,
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
	CONSTRAINT "agent_stats_rollups_pk" PRIMARY KEY("space_id","span_hours","start_hour","agent_id")
);
--> statement-breakpoint
CREATE TABLE "event_stats_rollups" (
	"space_id" uuid NOT NULL,
	"span_hours" integer NOT NULL,
	"start_hour" bigint NOT NULL,
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
	CONSTRAINT "event_stats_rollups_pk" PRIMARY KEY("space_id","span_hours","start_hour","type","name","source")
);
--> statement-breakpoint
CREATE TABLE "model_prices" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"space_id" uuid,
	"model" text NOT NULL,
	"valid_from" date NOT NULL,
	"input" numeric NOT NULL,
	"output" numeric NOT NULL,
	"cache_read" numeric,
	"cache_write" numeric,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "model_prices_of_day" UNIQUE NULLS NOT DISTINCT("space_id","model","valid_from")
);
--> statement-breakpoint
ALTER TABLE "model_prices" ADD CONSTRAINT "model_prices_space_id_spaces_id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
-- Counters are updated in place: room on the page keeps those updates out of the index (HOT). An hour's row is updated by
-- each statement.
ALTER TABLE "event_stats_rollups" SET (fillfactor = 50);
--> statement-breakpoint
ALTER TABLE "agent_stats_rollups" SET (fillfactor = 50);
--> statement-breakpoint
-- What was counted until now is added up. No writer of this version runs yet, and one of an older version would add to the
-- minutes only: end the old writers first. Their messages wait in the queue.
LOCK TABLE "event_stats", "agent_stats" IN SHARE ROW EXCLUSIVE MODE;
--> statement-breakpoint
INSERT INTO "event_stats_rollups" ("space_id", "span_hours", "start_hour", "type", "name", "source", "events", "duration_ms", "errors", "input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "latency")
SELECT "space_id", "span_hours", "start_hour", "type", "name", "source", "events", "duration_ms", "errors", "input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", coalesce("latency", '{}')
FROM (
	SELECT "space_id", "span_hours", floor("minute" / (60.0 * "span_hours"))::bigint * "span_hours" AS "start_hour", "type", "name", "source",
		sum("events") AS "events", sum("duration_ms") AS "duration_ms", sum("errors") AS "errors", sum("input_tokens") AS "input_tokens", sum("output_tokens") AS "output_tokens", sum("total_tokens") AS "total_tokens", sum("cache_read_tokens") AS "cache_read_tokens", sum("cache_write_tokens") AS "cache_write_tokens", sum("reasoning_tokens") AS "reasoning_tokens"
	FROM "event_stats" CROSS JOIN (VALUES (1), (6)) AS span("span_hours") GROUP BY 1, 2, 3, "type", "name", "source"
) AS sums LEFT JOIN (
	SELECT "space_id", "span_hours", "start_hour", "type", "name", "source", array_agg("bucket" << 40 | "counted" ORDER BY "bucket") AS "latency"
	FROM (
		SELECT "space_id", "span_hours", floor("minute" / (60.0 * "span_hours"))::bigint * "span_hours" AS "start_hour", "type", "name", "source",
			"element" >> 40 AS "bucket", sum("element" & 1099511627775)::bigint AS "counted"
		FROM "event_stats" CROSS JOIN (VALUES (1), (6)) AS span("span_hours") CROSS JOIN unnest("latency") AS "element"
		GROUP BY 1, 2, 3, "type", "name", "source", "bucket"
	) AS buckets
	GROUP BY 1, 2, 3, "type", "name", "source"
) AS sketches USING ("space_id", "span_hours", "start_hour", "type", "name", "source");
--> statement-breakpoint
INSERT INTO "agent_stats_rollups" ("space_id", "span_hours", "start_hour", "agent_id", "events", "duration_ms", "errors", "input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "latency")
SELECT "space_id", "span_hours", "start_hour", "agent_id", "events", "duration_ms", "errors", "input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", coalesce("latency", '{}')
FROM (
	SELECT "space_id", "span_hours", floor("minute" / (60.0 * "span_hours"))::bigint * "span_hours" AS "start_hour", "agent_id",
		sum("events") AS "events", sum("duration_ms") AS "duration_ms", sum("errors") AS "errors", sum("input_tokens") AS "input_tokens", sum("output_tokens") AS "output_tokens", sum("total_tokens") AS "total_tokens", sum("cache_read_tokens") AS "cache_read_tokens", sum("cache_write_tokens") AS "cache_write_tokens", sum("reasoning_tokens") AS "reasoning_tokens"
	FROM "agent_stats" CROSS JOIN (VALUES (1), (6)) AS span("span_hours") GROUP BY 1, 2, 3, "agent_id"
) AS sums LEFT JOIN (
	SELECT "space_id", "span_hours", "start_hour", "agent_id", array_agg("bucket" << 40 | "counted" ORDER BY "bucket") AS "latency"
	FROM (
		SELECT "space_id", "span_hours", floor("minute" / (60.0 * "span_hours"))::bigint * "span_hours" AS "start_hour", "agent_id",
			"element" >> 40 AS "bucket", sum("element" & 1099511627775)::bigint AS "counted"
		FROM "agent_stats" CROSS JOIN (VALUES (1), (6)) AS span("span_hours") CROSS JOIN unnest("latency") AS "element"
		GROUP BY 1, 2, 3, "agent_id", "bucket"
	) AS buckets
	GROUP BY 1, 2, 3, "agent_id"
) AS sketches USING ("space_id", "span_hours", "start_hour", "agent_id");
