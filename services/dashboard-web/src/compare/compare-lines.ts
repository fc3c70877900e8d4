import { diffArrays } from 'diff';
import type { LineRun } from './changes.ts';

/** Texts that differ in very many lines would take minutes. */
const timeoutMs = 3_000;

/** The runs of lines that turn one text into another; undefined when they were not found in time. */
export function compareLines(before: string[], after: string[]): LineRun[] | undefined {
  return diffArrays(before, after, { timeout: timeoutMs })?.map(({ added, removed, count }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    count,
  }));
}
