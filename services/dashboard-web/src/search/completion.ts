import type { Input } from '../api/query.ts';
import { comparisonExamples } from '../filter/comparison.ts';
import { attributePrefix, isAttribute, isMeasure } from '../filter/conditions.ts';
import { completeField, fieldNamed, quote } from './typed-fields.ts';

/** What can be completed at the cursor of the search field. */
export interface Completion {
  /** The part of the text that an option replaces. */
  start: number;
  end: number;
  /** Options that are known without asking. */
  options: readonly CompletionOption[];
  /** Values to ask the API for. */
  asked?: AskedValues;
  /** A word that may be the value of a field. */
  word?: string;
}

export interface CompletionOption {
  /** What replaces the part. */
  insert: string;
  label: string;
  detail?: string;
  /** Whether a value follows, which is completed next. */
  isOpen: boolean;
}

export type FacetField = Input<'events.facets'>['fields'][number];

export interface AskedValues {
  /** The fields whose values are offered; `attribute` offers keys of properties, `label` labels of notes. */
  fields: (FacetField | 'label')[];
  prefix: string;
}

const fixedValues: Record<string, readonly string[]> = {
  type: ['llm', 'tool'],
  state: ['ok', 'error'],
  has: ['note'],
};

const askedFields: Record<string, AskedValues['fields']> = {
  label: ['label'],
  name: ['model', 'tool'],
  ...{ source: ['source'], agentId: ['agentId'], agentGroupId: ['agentGroupId'] },
  ...{ userId: ['userId'], threadId: ['threadId'], errorCode: ['errorCode'] },
};

/** @returns undefined when nothing can be completed. */
export function completeAt(text: string, cursor: number): Completion | undefined {
  const before = text.slice(0, cursor);
  const token = /(?:^|\s)((?:[^\s"]|"[^"]*(?:"|$))*)$/.exec(before)?.[1] ?? '';
  const end = cursor + (/^[^\s"]*/.exec(text.slice(cursor))?.[0].length ?? 0);
  const [, minus = '', name, quote, value = ''] =
    /^(-?)((?:attr|label)\."(?:[^"\\]|\\.)*"|(?:attr|label)\.[^\s:"]+|[\p{L}\p{N}_.]+):("?)([^"]*)$/u.exec(
      token,
    ) ?? [];
  const tokenStart = cursor - token.length;
  if (name !== undefined) {
    const field = fieldNamed(name);
    const start = tokenStart + minus.length + name.length + 1;
    return field === undefined || (quote !== '' && end !== cursor)
      ? undefined
      : { start, end, ...completeValue(field, value) };
  }
  const [, typedMinus = '', prefix] = /^(-?)(attr\.[^\s:"]*|[\p{L}\p{N}_.]*)$/u.exec(token) ?? [];
  if (prefix === undefined) return undefined;
  const start = tokenStart + typedMinus.length;
  if (prefix.startsWith(attributePrefix)) {
    const asked: AskedValues = { fields: ['attribute'], prefix: prefix.slice(attributePrefix.length) };
    return { start, end, options: [], asked };
  }
  const options = completeField(prefix).map(({ name, label }) => ({
    insert: name,
    label: name,
    detail: label,
    isOpen: true,
  }));
  if (typedMinus === '' && prefix !== '') return { start, end, options, word: prefix };
  return options.length === 0 ? undefined : { start, end, options };
}

function completeValue(field: string, value: string): Pick<Completion, 'options' | 'asked'> {
  const fixed = fixedValues[field] ?? (isMeasure(field) ? comparisonExamples[field] : undefined);
  if (fixed !== undefined) {
    return { options: fixed.filter((one) => one.startsWith(value) && one !== value).map(valueOption) };
  }
  const fields = isAttribute(field) ? [field] : askedFields[field];
  return { options: [], ...(fields && { asked: { fields, prefix: value } }) };
}

/** The options for values of the API. Values that cannot be typed are left out. */
export function toOptions({ fields }: AskedValues, values: readonly string[]): CompletionOption[] {
  const isKey = fields.includes('attribute');
  const typed = values.filter((value) => !/[\r\n]/.test(value));
  if (!isKey) return typed.map(valueOption);
  return typed.map((name) => {
    const field = `${attributePrefix}${/^[^\s:"]+$/.test(name) ? name : quote(name)}:`;
    return { insert: field, label: field, isOpen: true };
  });
}

export function valueOption(value: string): CompletionOption {
  const insert = /[\s"]/.test(value) ? `${quote(value)} ` : `${value} `;
  return { insert, label: value, isOpen: false };
}
