/**
 * The fields of an event that a list can be filtered by. Each is a parameter of the address under the same
 * name.
 */
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

export const fieldNames = Object.keys(fields) as readonly Field[];

export function isField(name: string): name is Field {
  return Object.hasOwn(fields, name);
}

/**
 * The numbers of an event that a list can compare. Each is a parameter of the address, with a comparison such
 * as `>10s`.
 */
export const measures = { duration: 'Duration', tokens: 'Tokens', cost: 'Cost' } as const;

export type Measure = keyof typeof measures;

export function isMeasure(name: string): name is Measure {
  return Object.hasOwn(measures, name);
}

/** The prefixes of additional properties and of values that are excluded. */
export const attributePrefix = 'attr.';
export const notPrefix = 'not.';

/** A condition on events: a field or additional property has, or does not have, a value. */
export interface Condition {
  /** A field, a measure, or `attr.` and the key of an additional property. */
  field: string;
  /** Of a measure: a comparison. */
  value: string;
  isExcluded: boolean;
}

/** How a condition is shown: `User`, `plan`. */
export function labelOf(field: string): string {
  if (isMeasure(field)) return measures[field];
  return isField(field) ? fields[field] : field.slice(attributePrefix.length);
}
