import type { Input } from '../api/query.ts';
import { isNoteField } from '../filter/conditions.ts';
import { type NoteCondition, parseNoteCondition } from '../filter/note-condition.ts';

export type ActivityFilter = Pick<
  Extract<Input<'users.list'>, object>,
  'search' | 'model' | 'comparisons' | 'notes'
>;

const token = /(events|errors|tokens|cost|model|has|label(?:\.[^\s:"]+)?):(?:"([^"]*)"|(\S+))|\S+/g;
const comparison = /^(>=?|<=?)\$?(\d+(?:\.\d+)?)([km]?)$/i;
const units: Record<string, number> = { '': 1, k: 1_000, m: 1_000_000 };

/**
 * `errors:>0 cost:>1 events:>10 tokens:>1k model:gpt-4o label:thumbs-down has:note`; other words are searched
 * for.
 * @returns an error message for a wrong comparison.
 */
export function readActivityQuery(text: string): ActivityFilter | string {
  const words: string[] = [];
  const comparisons: NonNullable<ActivityFilter['comparisons']> = [];
  const notes: NoteCondition[] = [];
  let model: string | undefined;
  for (const [whole, name, quoted, plain = ''] of text.matchAll(token)) {
    const [, operator, digits, unit = ''] = comparison.exec(plain) ?? [];
    if (name === undefined) words.push(whole);
    else if (name === 'model') model = quoted ?? plain;
    else if (isNoteField(name)) {
      const condition = parseNoteCondition(name, quoted ?? plain);
      if (typeof condition === 'string') return condition;
      notes.push(condition);
    } else if (operator === undefined)
      return `“${whole}” is not a comparison. Write ${name}:>10 or ${name}:<=2.`;
    else {
      const value = Number(digits) * (units[unit.toLowerCase()] ?? 1);
      // The pattern has these names and operators only.
      comparisons.push({ measure: name, operator, value } as (typeof comparisons)[number]);
    }
  }
  return {
    ...(words.length > 0 && { search: words.join(' ') }),
    ...(model !== undefined && { model }),
    ...(comparisons.length > 0 && { comparisons }),
    ...(notes.length > 0 && { notes }),
  };
}
