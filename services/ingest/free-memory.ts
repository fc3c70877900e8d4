/** Buffers that nobody reads any more. */
let unread: Uint8Array[] = [];

/**
 * Gives back the memory of a buffer that nobody reads any more, and does so now: V8 would find it in a later collection of
 * its whole heap, and starts one for every few megabytes that it counts outside (ADR 0008). What comes in within the
 * same turn of the event loop may still be under the parser's hands: it is given back after it.
 *
 * A buffer that shares its memory with others is left to the collection.
 */
export function freeMemory(buffer: Uint8Array): void {
  if (unread.push(buffer) === 1) setImmediate(freeUnread);
}

function freeUnread(): void {
  const buffers = unread;
  unread = [];
  for (const { buffer, byteLength } of buffers) {
    // Whoever takes over the memory of an ArrayBuffer and wants none of it has freed it.
    if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength)
      buffer.transfer(0);
  }
}
