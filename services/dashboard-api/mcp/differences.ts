import { comparedValuesMax } from './limits.ts';

/** A value that two events do not share. A missing value is absent. */
export interface Difference {
  path: string;
  a?: unknown;
  b?: unknown;
}

/** Compares two JSON texts value by value. @returns the differences in the order of the first text, and whether all were looked at. */
export function findDifferences(a: string, b: string): { differences: Difference[]; isComplete: boolean } {
  const [before, after] = [valuesOf(JSON.parse(a)), valuesOf(JSON.parse(b))];
  const differences: Difference[] = [];
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    if (before.has(path) && after.has(path) && before.get(path) === after.get(path)) continue;
    differences.push({
      path,
      ...(before.has(path) && { a: before.get(path) }),
      ...(after.has(path) && { b: after.get(path) }),
    });
  }
  const isComplete = Math.max(before.size, after.size) < comparedValuesMax;
  return { differences, isComplete };
}

/** The values of a JSON value by their path, such as `properties.llm.model` and `messages[0].role`. Empty containers are values. */
function valuesOf(root: unknown): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const visit = (value: unknown, path: string) => {
    if (values.size >= comparedValuesMax) return;
    const isContainer = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
    if (!isContainer) {
      values.set(path, typeof value === 'object' && value !== null ? JSON.stringify(value) : value);
      return;
    }
    const isArray = Array.isArray(value);
    for (const [name, part] of Object.entries(value))
      visit(part, isArray ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`);
  };
  visit(root, '');
  return values;
}
