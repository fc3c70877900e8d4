import { joinValues, notPrefix, type Search, valuesOf } from '../url/search.ts';

/** The fields by which lists of events are filtered. Each is a parameter of the address with its name. */
export const fields = {
  type: 'Type',
  state: 'State',
  name: 'Model or tool',
  source: 'Source',
  userId: 'User',
  threadId: 'Thread',
  traceId: 'Trace',
  agentId: 'Agent',
  agentGroupId: 'Agent group',
  errorCode: 'Error code',
} as const;

export type Field = keyof typeof fields;

const fieldNames = Object.keys(fields) as readonly Field[];

export function isField(name: string): name is Field {
  return Object.hasOwn(fields, name);
}

/** The numbers that lists of events compare. Each is a parameter of the address, such as `duration=>10s`. */
const measures = { duration: 'Duration', tokens: 'Tokens', cost: 'Cost' } as const;

export type Measure = keyof typeof measures;

export function isMeasure(name: string): name is Measure {
  return Object.hasOwn(measures, name);
}

/**
 * Conditions on notes: `label` has the name of a label, `has` the word `note`, and `label.` with a name the
 * value of that label, or a comparison.
 */
const noteFields = { label: 'Label', has: 'Has' } as const;
export const labelPrefix = 'label.';

export function isNoteField(name: string): boolean {
  return Object.hasOwn(noteFields, name) || (name.startsWith(labelPrefix) && name !== labelPrefix);
}

export const attributePrefix = 'attr.';

export function isAttribute(field: string): field is `${typeof attributePrefix}${string}` {
  return field.startsWith(attributePrefix);
}

/** A condition on events: a field or additional property has, or does not have, a value. */
export interface Condition {
  /** A field, a measure, one of notes, or `attr.` and the key of an additional property. */
  field: string;
  /** What the field is compared with; for a measure a comparison. */
  value: string;
  isExcluded: boolean;
}

/** How a condition is shown: `User`, `plan`. */
export function labelOf(field: string): string {
  if (isMeasure(field)) return measures[field];
  if (field === 'label' || field === 'has') return noteFields[field];
  if (isNoteField(field)) return `${noteFields.label} ${field.slice(labelPrefix.length)}`;
  return isField(field) ? fields[field] : field.slice(attributePrefix.length);
}

/** The conditions of an address, in field order. Unknown fields are ignored. */
export function readConditions(search: Search): Condition[] {
  const found = Object.entries(search).flatMap(([name, value]): Condition[] => {
    const isExcluded = name.startsWith(notPrefix);
    const field = isExcluded ? name.slice(notPrefix.length) : name;
    if (value === '' || !isCondition(field)) return [];
    return (isExcluded ? valuesOf(value) : [value]).map((one) => ({ field, value: one, isExcluded }));
  });
  return found.sort((a, b) => rank(a) - rank(b));
}

/** The address with a condition, in place of one of the same field. Excluded values add up. */
export function withCondition(search: Search, { field, value, isExcluded }: Condition): Search {
  const { [field]: _is, [notPrefix + field]: not, ...rest } = search;
  return isExcluded
    ? { ...rest, [notPrefix + field]: joinValues([...valuesOf(not), value]) }
    : { ...rest, [field]: value };
}

export function withoutCondition(search: Search, { field, value, isExcluded }: Condition): Search {
  const name = isExcluded ? notPrefix + field : field;
  const { [name]: before, ...rest } = search;
  const others = isExcluded ? valuesOf(before).filter((one) => one !== value) : [];
  return others.length === 0 ? rest : { ...rest, [name]: joinValues(others) };
}

/** The address without any condition, search text or limit. */
export function withoutFilter(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([name]) => !isFilter(name)));
}

/** The parameters of an address that filter events. */
export function filterOf(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([name]) => isFilter(name)));
}

/** The parameters of an address that select a range of time. */
export function rangeOf({ last, from, to }: Search): Search {
  return Object.fromEntries(
    Object.entries({ last, from, to }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

const limits = ['text', 'from', 'to', 'last', 'minDurationMs', 'maxDurationMs'];

function isFilter(name: string): boolean {
  const field = name.startsWith(notPrefix) ? name.slice(notPrefix.length) : name;
  return limits.includes(name) || isCondition(field);
}

function isCondition(field: string): boolean {
  return (
    isField(field) ||
    isMeasure(field) ||
    isNoteField(field) ||
    (field.startsWith(attributePrefix) && field.length > attributePrefix.length)
  );
}

function rank({ field }: Condition): number {
  return isField(field) ? fieldNames.indexOf(field) : fieldNames.length;
}
