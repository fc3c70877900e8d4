ALTER TABLE "spaces" ADD COLUMN "retention_days" integer;--> statement-breakpoint
ALTER TABLE "spaces" ADD CONSTRAINT "spaces_retention_days" CHECK ("spaces"."retention_days" BETWEEN 1 AND 36500);