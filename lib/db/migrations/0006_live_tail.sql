-- The live tail (ADR 0020): which events a transaction stored.
CREATE TABLE "segment_additions" (
	"space_id" uuid NOT NULL,
	"stored_xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"segment_id" uuid NOT NULL,
	"indexes" integer[] NOT NULL,
	"stored_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "segment_additions_space_id_stored_xid_segment_id_pk" PRIMARY KEY("space_id","stored_xid","segment_id")
);
--> statement-breakpoint
CREATE INDEX "segment_additions_by_segment" ON "segment_additions" USING btree ("segment_id");
--> statement-breakpoint
-- ON ONLY: the index of the first partition is built later, without stopping its writers.
CREATE INDEX "segments_by_transaction" ON ONLY "segments" USING btree ("space_id","stored_xid");
--> statement-breakpoint
DO $$
DECLARE
	child name;
BEGIN
	FOR child IN
		SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
		WHERE inhparent = 'segments'::regclass AND relname <> 'segments_initial'
	LOOP
		EXECUTE format('CREATE INDEX %I ON %I USING btree (space_id, stored_xid)', child || '_by_transaction', child);
		EXECUTE format('ALTER INDEX segments_by_transaction ATTACH PARTITION %I', child || '_by_transaction');
	END LOOP;
END $$;
