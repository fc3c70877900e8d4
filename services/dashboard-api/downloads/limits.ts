import type { SlotLimits } from '../fair-slots.ts';

/**
 * Events of a row group of a Parquet export, and the characters of their texts. A group is compressed on the main thread, in some 20 ms,
 * and held in memory.
 */
export const parquetGroupEventsMax = 2_000;
export const parquetGroupCharsMax = 512 * 1024;

/**
 * Concurrent exports and downloads of audit logs: in total, of one person and of one space. Each holds some megabytes and runs a
 * statement now and then.
 */
export const downloadLimits: SlotLimits = {
  slotsMax: 8,
  ofHolderMax: 3,
  ofSpaceMax: 3,
  noun: 'downloads running',
};

/** Time that a client may take for a page of a download (up to 8 MiB, so 70 KiB/s). Otherwise a client that stops reading would keep its slot forever. */
export const downloadPageMsMax = 120_000;
