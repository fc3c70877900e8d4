/** Texts only: a parser that made numbers would round the digits of a long id. */
export type Search = Record<string, string>;

/** Names that would change the object itself. */
const refused = new Set(['__proto__', 'constructor', 'prototype']);

export function parseSearch(text: string): Search {
  const search: Search = {};
  for (const [name, value] of new URLSearchParams(text)) if (!refused.has(name)) search[name] = value;
  return search;
}

export function formatSearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (typeof value === 'string' && value !== '') params.set(name, value);
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** `//host` and `/\host` are addresses of other sites. */
export function isOwnPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text) && !/[\t\n\r]/.test(text);
}
