/**
 * Frees the memory of a buffer that is no longer read. V8 would free it only in a later collection of its
 * whole heap, and starts such a collection for every few megabytes outside of the heap (ADR 0008).
 *
 * The memory is freed after the current turn of the event loop: the HTTP parser may still be using a chunk
 * that it has just emitted. A buffer that shares its memory with others is left to the garbage collector.
 */
export function detachBuffer(buffer: Uint8Array): void {
  setImmediate(detach, buffer);
}

function detach({ buffer, byteLength }: Uint8Array): void {
  // `transfer(0)` detaches the buffer and frees its memory.
  if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0);
}
