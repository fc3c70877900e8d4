import { uuidShape } from '../../platform/uuid.ts';

/** A range of indexes in one segment, both ends included. */
export interface BatchRange {
  readonly segmentId: string;
  readonly first: number;
  readonly last: number;
}

const format = new RegExp(`^(${uuidShape}):(\\d{1,9})-(\\d{1,9})$`, 'i');

/** `Weir-Batch-Id` (docs/api.md §4.3): comma-separated ranges, several for more than one queue message. */
export function formatBatchId(ranges: readonly BatchRange[]): string {
  return ranges.map(({ segmentId, first, last }) => `${segmentId}:${first}-${last}`).join(', ');
}

/** Parses the output of {@link formatBatchId}. @returns undefined for any other text. */
export function parseBatchId(text: string): BatchRange[] | undefined {
  const ranges = text.split(',').map((range) => {
    const [, segmentId = '', first, last] = format.exec(range.trim()) ?? [];
    return { segmentId: segmentId.toLowerCase(), first: Number(first), last: Number(last) };
  });
  return ranges.every(({ first, last }) => first <= last) ? ranges : undefined;
}
