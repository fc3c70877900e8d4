// A registered symbol, so that it is the same in all copies of the package, such as an ESM and a bundled one.
const mark = Symbol.for('weir.observed');

/** Whether a function or client is observed already: observing it twice would record each call twice. */
export function isObserved(target: object): boolean {
  return mark in target;
}

export function markObserved<T extends object>(target: T): T {
  Object.defineProperty(target, mark, { value: true });
  return target;
}
