/** Browsers escape some characters of the hash, and the router leaves them so. */
export function readHash(hash: string): string {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

/** `readHash` gives the text back, also where it looks escaped. */
export function writeHash(text: string): string {
  return text.replaceAll('%', '%25');
}
