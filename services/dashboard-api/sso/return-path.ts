import { returnPathCharsMax } from '../limits.ts';

/** A path of the dashboard, to show after single sign-on. Anything else, such as `//evil.example`, would send the browser to another site. */
export function returnPath(text: string | null): string {
  if (text === null || text.length > returnPathCharsMax || !/^\/[\x21-\x7e]*$/.test(text)) return '/';
  const base = 'http://dashboard.invalid';
  const url = URL.parse(text, base);
  // The pages take the resolved path: `/.//evil.example` is `//evil.example` then.
  const isOwn = url?.origin === base && !url.pathname.startsWith('//');
  return isOwn && !text.startsWith('//') && !text.includes('\\') ? text : '/';
}
