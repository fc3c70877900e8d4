export interface SafeLink {
  href: string;
  /** The visible target: the host or the mail address. */
  target: string;
}

/** Accepts only an absolute web address or a mail address, not a script or a path of the dashboard. */
export function safeLink(address: string): SafeLink | undefined {
  const url = URL.parse(address.trim());
  if (url === null) return undefined;
  // A name and a password before the host look like the host.
  if (url.username !== '' || url.password !== '') return undefined;
  if (url.protocol === 'mailto:') return { href: url.href, target: url.pathname };
  if (url.protocol === 'http:' || url.protocol === 'https:') return { href: url.href, target: url.host };
  return undefined;
}
