/** The site that passkeys belong to. Browsers use a passkey only on pages of its site. */
export interface PasskeySite {
  /** The origin of the pages. */
  origin: string;
  /** The relying party id: the host's name. */
  rpId: string;
}

/**
 * Finds the site of the dashboard. Passkeys need a host name, and https except on `localhost`.
 *
 * @param publicUrl DASHBOARD_PUBLIC_URL. Without it only `localhost` is a site: the Host header alone does not prove a name.
 * @param host the Host header.
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
