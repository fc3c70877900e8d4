import type { Input } from '../api/query.ts';
import { labelPrefix } from './conditions.ts';

export type NoteCondition = NonNullable<Extract<Input<'events.list'>, object>['notes']>[number];

/** `has:note`, `label:NAME`, `label.NAME:VALUE` or `label.NAME:<0.5`. @returns an error message instead. */
export function parseNoteCondition(field: string, value: string): NoteCondition | string {
  if (field === 'has') return value === 'note' ? {} : `Events can have notes: write has:note.`;
  if (field === 'label') return { label: value };
  const label = field.slice(labelPrefix.length);
  const [, operator, score] = /^(>=?|<=?)(-?(?:\d+(?:\.\d+)?|\.\d+))$/.exec(value) ?? [];
  // The pattern has these operators only.
  if (operator !== undefined)
    return { label, operator: operator as NonNullable<NoteCondition['operator']>, score: Number(score) };
  if (/^[<>]/.test(value))
    return `“${value}” is not a comparison. Write label.${label}:<0.5 or label.${label}:>=1.`;
  return { label, value };
}
