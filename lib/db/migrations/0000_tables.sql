CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"space_id" uuid NOT NULL,
	"name" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"last_four" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	CONSTRAINT "api_keys_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"space_id" uuid NOT NULL,
	"id" uuid DEFAULT uuidv7() NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"details" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "audit_log_space_id_id_pk" PRIMARY KEY("space_id","id")
);
--> statement-breakpoint
CREATE TABLE "event_stats" (
	"space_id" uuid NOT NULL,
	"minute" bigint NOT NULL,
	"type" text NOT NULL,
	"name" text NOT NULL,
	"events" bigint NOT NULL,
	"errors" bigint NOT NULL,
	"input_tokens" double precision NOT NULL,
	"output_tokens" double precision NOT NULL,
	"total_tokens" double precision NOT NULL,
	"duration_ms" double precision NOT NULL,
	"latency" integer[] NOT NULL,
	CONSTRAINT "event_stats_space_id_minute_type_name_pk" PRIMARY KEY("space_id","minute","type","name")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"space_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"segment_id" uuid NOT NULL,
	"trace_id" uuid,
	"received_at" timestamp with time zone NOT NULL,
	"start_time_ms" double precision NOT NULL,
	"end_time_ms" double precision NOT NULL,
	"duration_ms" double precision NOT NULL,
	"input_tokens" double precision,
	"output_tokens" double precision,
	"total_tokens" double precision,
	"segment_index" integer NOT NULL,
	"type" text NOT NULL,
	"state" text NOT NULL,
	"name" text,
	"source" text NOT NULL,
	"thread_id" text,
	"agent_id" text,
	"agent_group_id" text,
	"user_id" text,
	"error_code" text,
	"error_http_status" text,
	"error_message" text,
	"input_preview" text,
	"output_preview" text,
	"attributes" json,
	CONSTRAINT "events_space_id_id_pk" PRIMARY KEY("space_id","id")
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"space_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" text NOT NULL,
	CONSTRAINT "memberships_space_id_user_id_pk" PRIMARY KEY("space_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "quarantine" (
	"space_id" uuid NOT NULL,
	"id" uuid DEFAULT uuidv7() NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"quarantined_at" timestamp with time zone DEFAULT now() NOT NULL,
	"event_count" integer NOT NULL,
	"sqlstate" text NOT NULL,
	"message" text NOT NULL,
	"part" "bytea" NOT NULL,
	CONSTRAINT "quarantine_space_id_id_pk" PRIMARY KEY("space_id","id")
);
--> statement-breakpoint
CREATE TABLE "segments" (
	"space_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"api_key_id" uuid NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"event_count" integer NOT NULL,
	"raw_bytes" integer NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "segments_space_id_id_pk" PRIMARY KEY("space_id","id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"token_hash" "bytea" PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "spaces" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"name" text NOT NULL,
	"monthly_event_limit" bigint,
	"billing_state" text DEFAULT 'active' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage_months" (
	"space_id" uuid NOT NULL,
	"month" text NOT NULL,
	"events" bigint NOT NULL,
	CONSTRAINT "usage_months_space_id_month_pk" PRIMARY KEY("space_id","month")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"email" text NOT NULL,
	"password_hash" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_email_unique" UNIQUE("email")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_space_id_spaces_id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_space_id_spaces_id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "events_by_start_time" ON "events" USING btree ("space_id","start_time_ms" DESC NULLS LAST,"id");