import type { SlotLimits } from '../fair-slots.ts';

/** Of a row group of Parquet, compressed on the main thread in some 20 ms, and held in memory. */
export const parquetGroupEventsMax = 2_000;
export const parquetGroupCharsMax = 512 * 1024;

/**
 * In total, of one person and of one space. Each download holds some megabytes and runs a statement now and
 * then.
 */
export const downloadLimits: SlotLimits = {
  slotsMax: 8,
  ofHolderMax: 3,
  ofSpaceMax: 3,
  noun: 'downloads running',
};

/** For a page of up to 8 MiB (70 KiB/s): a client that stops reading would keep its slot forever. */
export const downloadPageMsMax = 120_000;
