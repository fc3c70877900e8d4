import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';

const controlChange = z.object({
  /** Of two changes of one row, the later one has the higher number. */
  number: z.number().int().positive(),
  /** When it was made, by the clock of Postgres: ISO 8601. */
  at: z.string(),
  /** `events` for an erasure. */
  table: z.string(),
  operation: z.enum(['upsert', 'delete', 'erase']),
  /**
   * JSON: the row, the primary key of a deleted row, or what was erased. As text, since numbers may have more
   * digits than a double.
   */
  image: z.string(),
});
export type ControlChange = z.infer<typeof controlChange>;

const controlMessage = z.object({ changes: z.array(controlChange) });

/** Encodes the payload of a message of the control stream: JSON, compressed by zstd. */
export function encodeChanges(changes: readonly ControlChange[]): Uint8Array {
  return zstdCompressSync(JSON.stringify({ changes }));
}

/** @throws when the bytes are not such a message. Members that this version does not know are ignored. */
export function decodeChanges(bytes: Uint8Array): ControlChange[] {
  return controlMessage.parse(JSON.parse(zstdDecompressSync(bytes).toString())).changes;
}
