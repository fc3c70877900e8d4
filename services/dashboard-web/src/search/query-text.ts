import { parseComparison } from '../filter/comparison.ts';
import { attributePrefix, type Condition, isMeasure, isNoteField } from '../filter/conditions.ts';
import { parseNoteCondition } from '../filter/note-condition.ts';
import { fieldNamed, findSimilar, unquote } from './typed-fields.ts';

/** Why a typed query is not searched, and what may have been meant. */
export interface QueryProblem {
  message: string;
  /** The whole query, corrected in the ways that are offered. */
  fixes: { label: string; query: string }[];
}

export interface ParsedQuery {
  conditions: Condition[];
  text: string;
  /** A wrong field or comparison of the query: searching it as text would be slow, and find nothing. */
  problem?: QueryProblem;
}

/**
 * Parses the search field: `field:value`, `-field:value`, quoted values with spaces, comparisons such as
 * `took:>10s`. Other words, and texts in quotes, are a text search.
 */
export function parseQueryText(query: string): ParsedQuery {
  const conditions: Condition[] = [];
  const words: string[] = [];
  for (const match of query.matchAll(tokens)) {
    const [whole, minus, name = '', quotedValue, plain, phrase] = match;
    const value = quotedValue === undefined ? (plain ?? '') : unquote(quotedValue);
    const field = fieldNamed(name);
    if (phrase !== undefined) words.push(unquote(phrase));
    else if (field !== undefined && value !== '') {
      const isExcluded = minus === '-';
      if (isMeasure(field)) {
        const compared = isExcluded
          ? `A comparison cannot be excluded: write the opposite of ${name}:${value}.`
          : parseComparison(field, value);
        if (typeof compared === 'string') return failed(compared, []);
      }
      const noted = isNoteField(field) ? parseNoteCondition(field, value) : undefined;
      if (typeof noted === 'string') return failed(noted, []);
      conditions.push({ field, value, isExcluded });
    } else if (isLikeField(name, value)) return failed(...explainField(query, match));
    else words.push(whole);
  }
  return { conditions, text: words.join(' ') };
}

/** The name of a field, or of an additional property or a label, in quotes where it has other characters. */
const fieldName = String.raw`(?:attr|label)\.(?:"(?:[^"\\]|\\.)*"|[^\s:"]+)|[\p{L}_][\p{L}\p{N}_.]*`;
const quoted = String.raw`"((?:[^"\\]|\\.)*)"`;
const tokens = new RegExp(`(-)?(${fieldName}):(?:${quoted}|(\\S+))|${quoted}|\\S+`, 'gu');

function failed(message: string, fixes: QueryProblem['fixes']): ParsedQuery {
  return { conditions: [], text: '', problem: { message, fixes } };
}

/** Not the scheme of a URL, and not the drive of a path. */
function isLikeField(name: string, value: string): boolean {
  return name.length > 1 && value !== '' && !value.startsWith('//') && name !== 'mailto';
}

function explainField(query: string, match: RegExpExecArray): [string, QueryProblem['fixes']] {
  const [whole, minus = '', name = ''] = match;
  const replaceBy = (text: string) =>
    query.slice(0, match.index) + text + query.slice(match.index + whole.length);
  const rest = whole.slice(minus.length + name.length);
  const similar = findSimilar(name);
  const names = [...(similar === undefined ? [] : [similar]), `${attributePrefix}${name}`];
  return [
    `There is no field “${name}”.${similar === undefined ? '' : ` Did you mean ${similar}:?`}`,
    [
      ...names.map((one) => ({ label: `Search ${one}:`, query: replaceBy(`${minus}${one}${rest}`) })),
      { label: 'Search the text', query: replaceBy(`"${whole.replaceAll('"', '')}"`) },
    ],
  ];
}
