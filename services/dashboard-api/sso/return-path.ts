/** Limit of the path shown after single sign-on, in characters: a cookie stores it. */
const returnPathCharsMax = 1_000;

/** Validates the path to show after single sign-on. Anything else, such as `//evil.example`, would redirect to another site. */
export function returnPath(text: string | null): string {
  if (text === null || text.length > returnPathCharsMax || !/^\/[\x21-\x7e]*$/.test(text)) return '/';
  const base = 'http://dashboard.invalid';
  const url = URL.parse(text, base);
  // The pages use the resolved path: `/.//evil.example` would become `//evil.example`.
  const isOwn = url?.origin === base && !url.pathname.startsWith('//');
  return isOwn && !text.startsWith('//') && !text.includes('\\') ? text : '/';
}
