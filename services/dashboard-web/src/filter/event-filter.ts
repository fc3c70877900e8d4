import type { Input } from '../api/query.ts';
import type { Zone } from '../format/time.ts';
import type { Search } from '../url/search.ts';
import { type Comparison, parseComparison } from './comparison.ts';
import { attributePrefix, isField, isMeasure, isNoteField, readConditions } from './conditions.ts';
import { type NoteCondition, parseNoteCondition } from './note-condition.ts';
import { rangeOf } from './time-range.ts';

export type ListInput = Extract<Input<'events.list'>, object>;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The API's filter for an address, or an error message when the address has an invalid value. */
export function toEventFilter(search: Search, nowMs: number, zone?: Zone): ListInput | string {
  const filter: Record<string, unknown> = {};
  const attributes: { key: string; value: string }[] = [];
  const not: object[] = [];
  const comparisons: Comparison[] = [];
  const notes: NoteCondition[] = [];
  for (const { field, value, isExcluded } of readConditions(search)) {
    if (isNoteField(field)) {
      const condition = parseNoteCondition(field, value);
      if (typeof condition === 'string') return condition;
      notes.push({ ...condition, ...(isExcluded && { isExcluded }) });
      continue;
    }
    if (isMeasure(field)) {
      const compared = parseComparison(field, value);
      if (typeof compared === 'string') return compared;
      comparisons.push(...compared);
      continue;
    }
    const problem = findProblem(field, value);
    if (problem !== undefined) return problem;
    const key = field.slice(attributePrefix.length);
    if (isExcluded) not.push(isField(field) ? { column: field, value } : { attribute: key, value });
    else if (isField(field)) filter[field] = value;
    else attributes.push({ key, value });
  }
  if (attributes.length > 0) filter.attributes = attributes;
  if (not.length > 0) filter.not = not;
  if (comparisons.length > 0) filter.comparisons = comparisons;
  if (notes.length > 0) filter.notes = notes;
  if (search.text) filter.text = search.text;
  for (const name of ['minDurationMs', 'maxDurationMs']) {
    const value = Number(search[name]);
    if (search[name] && Number.isFinite(value)) filter[name] = value;
  }
  return { ...filter, ...rangeOf(search, nowMs, zone) } as ListInput;
}

/** The API rejects these values; the message is more helpful than its error. */
function findProblem(field: string, value: string): string | undefined {
  if (field === 'type' && value !== 'llm' && value !== 'tool')
    return `Unknown type “${value}”. Types are llm and tool.`;
  if (field === 'state' && value !== 'ok' && value !== 'error')
    return `Unknown state “${value}”. States are ok and error.`;
  if (field === 'traceId' && !uuid.test(value)) return `“${value}” is not a trace id. Trace ids are UUIDs.`;
  return undefined;
}
