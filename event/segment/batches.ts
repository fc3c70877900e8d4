interface StoredSegment {
  readonly id: string;
  readonly rawBytes: number;
}

/**
 * Divides segments, in order, into batches for one transaction each.
 * @param limits a batch has at most `segmentsMax` segments and `bytesMax` raw bytes, or one larger segment.
 * @returns the ids of each batch.
 */
export function* divideSegments(
  segments: readonly StoredSegment[],
  { segmentsMax, bytesMax }: { segmentsMax: number; bytesMax: number },
): Generator<string[]> {
  let ids: string[] = [];
  let bytes = 0;
  for (const { id, rawBytes } of segments) {
    if (ids.length > 0 && (ids.length === segmentsMax || bytes + rawBytes > bytesMax)) {
      yield ids;
      ids = [];
      bytes = 0;
    }
    ids.push(id);
    bytes += rawBytes;
  }
  if (ids.length > 0) yield ids;
}
