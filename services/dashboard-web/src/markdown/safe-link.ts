/** Where a link of a text may lead. */
export interface SafeLink {
  href: string;
  /** What a person has to see of it: the host, or the address of a mail. */
  target: string;
}

/** The link, if it is an absolute address of the web or a mail address: a script is none, and neither is a path of the dashboard. */
export function safeLink(address: string): SafeLink | undefined {
  const url = URL.parse(address.trim());
  if (url === null) return undefined;
  // A name and a password before the host look like the host.
  if (url.username !== '' || url.password !== '') return undefined;
  if (url.protocol === 'mailto:') return { href: url.href, target: url.pathname };
  if (url.protocol === 'http:' || url.protocol === 'https:') return { href: url.href, target: url.host };
  return undefined;
}
