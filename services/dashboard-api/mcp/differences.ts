import { letOthersRun } from '../slices.ts';
import { comparedPathCharsMax, comparedValuesMax } from './limits.ts';

/** A value that two events do not share. A missing value is absent. */
export interface Difference {
  path: string;
  a?: unknown;
  b?: unknown;
}

/**
 * Compares two JSON texts value by value. The event loop serves others between the steps, of which each takes long for a text of megabytes.
 *
 * @returns the differences in the order of the first text, and whether all were looked at.
 */
export async function findDifferences(
  a: string,
  b: string,
): Promise<{ differences: Difference[]; isComplete: boolean }> {
  const before = await readValues(a);
  const after = await readValues(b);
  const differences: Difference[] = [];
  for (const path of new Set([...before.values.keys(), ...after.values.keys()])) {
    const [isInA, isInB] = [before.values.has(path), after.values.has(path)];
    const [ofA, ofB] = [before.values.get(path), after.values.get(path)];
    if (isInA && isInB && ofA === ofB) continue;
    differences.push({ path, ...(isInA && { a: ofA }), ...(isInB && { b: ofB }) });
  }
  return { differences, isComplete: before.isComplete && after.isComplete };
}

async function readValues(text: string): Promise<PathValues> {
  const root: unknown = JSON.parse(text);
  await letOthersRun();
  const values = valuesOf(root);
  await letOthersRun();
  return values;
}

interface PathValues {
  values: ReadonlyMap<string, unknown>;
  /** False when the value has more, or longer paths, than a comparison looks at. */
  isComplete: boolean;
}

/**
 * The values of a JSON value by their path, such as `properties.llm.model` and `messages[0].role`. Empty containers are values. The paths are
 * bounded by their length, too: below a key of a megabyte each value would have a path of a megabyte.
 */
function valuesOf(root: unknown): PathValues {
  const values = new Map<string, unknown>();
  let pathChars = 0;
  let isComplete = true;
  const visit = (value: unknown, path: string) => {
    if (!isComplete) return;
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      const isArray = Array.isArray(value);
      for (const [name, part] of Object.entries(value)) {
        if (!isComplete) return;
        visit(part, isArray ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`);
      }
      return;
    }
    pathChars += path.length;
    isComplete = values.size < comparedValuesMax && pathChars <= comparedPathCharsMax;
    if (!isComplete) return;
    values.set(path, typeof value === 'object' && value !== null ? JSON.stringify(value) : value);
  };
  visit(root, '');
  return { values, isComplete };
}
