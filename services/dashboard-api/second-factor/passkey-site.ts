/** The site that passkeys belong to. Browsers use a passkey only on pages of its site. */
export interface PasskeySite {
  origin: string;
  /** The relying party id: the host's name. */
  rpId: string;
}

/**
 * Passkeys need a host name, and https except on `localhost`.
 * @param publicUrl DASHBOARD_PUBLIC_URL. Without it only `localhost` is a site: a Host header proves no name.
 * @returns undefined when there can be no passkeys.
 */
export function findPasskeySite(
  publicUrl: string | undefined,
  host: string | undefined,
): PasskeySite | undefined {
  const url = URL.parse(publicUrl ?? `http://${host ?? ''}`);
  if (url === null) return undefined;
  const isLocal = url.hostname === 'localhost';
  const isNamed = url.protocol === 'https:' && !/^[\d.]+$|^\[/.test(url.hostname);
  if (!isLocal && !(isNamed && publicUrl !== undefined)) return undefined;
  return { origin: url.origin, rpId: url.hostname };
}
