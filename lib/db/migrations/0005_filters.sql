-- Filters by terms of segments (ADR 0018). A trace is one of them, so the index on traces goes; the first partition keeps
-- its own until it is dropped. ON ONLY: the indexes of the first partition are built later, without stopping its writers.
DROP INDEX "events_by_trace";
--> statement-breakpoint
-- An option of an index of partitions cannot be changed.
DROP INDEX "segments_by_term";
--> statement-breakpoint
CREATE INDEX "segments_by_term" ON ONLY "segments" USING gin ("terms") WITH (gin_pending_list_limit=256);
--> statement-breakpoint
CREATE INDEX "segments_default_by_term" ON "segments_default" USING gin ("terms") WITH (gin_pending_list_limit=256);
--> statement-breakpoint
ALTER INDEX "segments_by_term" ATTACH PARTITION "segments_default_by_term";
--> statement-breakpoint
CREATE INDEX "segments_by_start_time" ON ONLY "segments" USING btree ("space_id","max_start_ms");
--> statement-breakpoint
CREATE INDEX "segments_default_by_start_time" ON "segments_default" USING btree ("space_id","max_start_ms");
--> statement-breakpoint
ALTER INDEX "segments_by_start_time" ATTACH PARTITION "segments_default_by_start_time";
--> statement-breakpoint
CREATE INDEX "segments_without_terms" ON ONLY "segments" USING btree ("space_id") WHERE "segments"."terms" IS NULL;
--> statement-breakpoint
CREATE INDEX "segments_default_without_terms" ON "segments_default" USING btree ("space_id") WHERE "terms" IS NULL;
--> statement-breakpoint
ALTER INDEX "segments_without_terms" ATTACH PARTITION "segments_default_without_terms";
