-- What was stored until now has no version, and gets it by `weir reproject`. Only new rows get the default.
ALTER TABLE "segments" ADD COLUMN "projection" smallint;
--> statement-breakpoint
ALTER TABLE "segments" ALTER COLUMN "projection" SET DEFAULT 1;
