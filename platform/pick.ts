/** The named members of an object, such as the columns of a table for `select` and `returning`. */
export function pick<From extends object, Name extends keyof From>(
  from: From,
  ...names: readonly Name[]
): Pick<From, Name> {
  // `Object.fromEntries` forgets the names.
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<From, Name>;
}
