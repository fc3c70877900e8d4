/**
 * The text behind the `#` of an address. Browsers escape some of its characters, and the router leaves them
 * so.
 */
export function readHash(hash: string): string {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

/** A text for the `#`: `readHash` gives it back, also where it looks escaped. */
export function writeHash(text: string): string {
  return text.replaceAll('%', '%25');
}
