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
   * JSON text, since numbers may exceed a double: the row, a deleted row's primary key, or what was erased.
   */
  image: z.string(),
});
export type ControlChange = z.infer<typeof controlChange>;

const controlMessage = z.object({ changes: z.array(controlChange) });

/** JSON, compressed by zstd. */
export function encodeChanges(changes: readonly ControlChange[]): Uint8Array {
  return zstdCompressSync(JSON.stringify({ changes }));
}

/** Ignores unknown members. @throws when the bytes are no message of the control stream. */
export function decodeChanges(bytes: Uint8Array): ControlChange[] {
  return controlMessage.parse(JSON.parse(zstdDecompressSync(bytes).toString())).changes;
}
