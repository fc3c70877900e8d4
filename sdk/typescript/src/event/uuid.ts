const uuidV4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;

/** Whether Weir accepts this value as an id. */
export function isUuidV4(text: unknown): text is string {
  return typeof text === 'string' && uuidV4.test(text);
}

/** A random UUIDv4. `randomUUID` is missing on pages that are not served over HTTPS. */
export function createUuid(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  // Each 8 becomes 8, 9, a or b, and each 0 any digit.
  return '00000000-0000-4000-8000-000000000000'.replace(/[08]/g, (digit) => {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    return (digit === '8' ? 8 + (byte & 3) : byte & 15).toString(16);
  });
}
