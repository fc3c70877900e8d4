import { basePath } from '../url/page-values.ts';
import { isOwnPath } from '../url/search.ts';

const key = 'weir.returnAddress';

/** Keeps a sign-in's return address in this tab. Not sent: a filter would be in logs of proxies. */
export function keepReturnAddress(href: string): void {
  try {
    sessionStorage.setItem(key, href);
  } catch {
    // Without storage the sign-in returns to the first page.
  }
}

/** Puts the kept address into the address bar, when the sign-in has returned to the first page. */
export function restoreReturnAddress(): void {
  if (window.location.pathname !== `${basePath}/`) return;
  try {
    const href = sessionStorage.getItem(key);
    sessionStorage.removeItem(key);
    if (href !== null && isOwnPath(href)) window.history.replaceState(null, '', `${basePath}${href}`);
  } catch {
    // As above.
  }
}
