/**
 * Whether a trace is kept, at a rate from 0 to 1. The result depends only on the id and the rate, so that all processes keep
 * or drop a trace as a whole.
 */
export function isSampled(traceId: string, rate: number): boolean {
  return rate >= 1 || hashOf(traceId) / 2 ** 32 < rate;
}

/** FNV-1a, 32 bits, with the final mix of MurmurHash3: FNV alone leaves the high bits of similar texts alike. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
