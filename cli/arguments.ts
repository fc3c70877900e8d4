import { InvalidArgumentError } from 'commander';
import type { BillingState } from '../lib/access/spaces.ts';
import { CommandFailure } from './host.ts';

/** Parsers of options: commander shows what they throw as bad usage (exit code 2). */

/** A whole number from `least` to `most`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number, ${range}.`);
  };
}

/** Events a month; `none` is unlimited, and stays a word: commander takes null for a parser that failed. */
export function parseEventLimit(text: string): number | 'none' {
  return text === 'none' ? text : wholeNumber(0)(text);
}

export function parseBillingState(text: string): BillingState {
  if (text === 'active' || text === 'inactive') return text;
  throw new InvalidArgumentError('It must be active or inactive.');
}

export function parseHttpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('It must be a URL that starts with http:// or https://.');
}

/** What a header can carry; whether it is a key, ingest answers. */
export function parseApiKey(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be ASCII, without white space.');
}

export function parseName(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It must not be empty.');
}

/**
 * An id of a space or a key. A malformed one names nothing that exists, so it is answered like an unknown one.
 *
 * @throws CommandFailure when the text is no UUID.
 */
export function parseId(kind: string, text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new CommandFailure(`There is no ${kind} ${JSON.stringify(text)}: its id is a UUID.`);
}
