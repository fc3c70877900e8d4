import type { SlotLimits } from '../fair-slots.ts';

/** Limits of a row group of Parquet, compressed on the main thread in some 20 ms, and held in memory. */
export const parquetGroupEventsMax = 2_000;
export const parquetGroupCharsMax = 512 * 1024;

/** Downloads in total, of one person and of one space. Each holds some megabytes. */
export const downloadLimits: SlotLimits = {
  slotsMax: 8,
  ofHolderMax: 3,
  ofSpaceMax: 3,
  noun: 'downloads running',
};

/** Time for a page of up to 8 MiB (70 KiB/s): a client that stops reading would keep its slot forever. */
export const downloadPageMsMax = 120_000;
