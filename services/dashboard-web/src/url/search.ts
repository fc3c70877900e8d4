/** Texts only: a parser that made numbers would round the digits of a long id. */
export type Search = Record<string, string>;

/** Parameters that an address may have several times begin with it: values that are excluded. */
export const notPrefix = 'not.';

/** Stands between the values of such a parameter. It is in no text that people type. */
const separator = '\u001f';

/** The values of a parameter. */
export const valuesOf = (text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : text.split(separator);

export const joinValues = (values: readonly string[]): string => [...new Set(values)].join(separator);

/** Names that would change the object itself. */
const refused = new Set(['__proto__', 'constructor', 'prototype']);

export function parseSearch(text: string): Search {
  const search: Search = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (refused.has(name)) continue;
    const isRepeated = name.startsWith(notPrefix) && search[name] !== undefined;
    search[name] = isRepeated ? joinValues([...valuesOf(search[name]), value]) : value;
  }
  return search;
}

export function formatSearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (typeof value !== 'string' || value === '') continue;
    for (const one of name.startsWith(notPrefix) ? valuesOf(value) : [value]) params.append(name, one);
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** `//host` and `/\host` are addresses of other sites. */
export function isOwnPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text) && !/[\t\n\r]/.test(text);
}
