-- `weir reproject` brings previews that show tool calls as calls to segments of other versions.
ALTER TABLE "segments" ALTER COLUMN "projection" SET DEFAULT 2;