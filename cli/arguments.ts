import { InvalidArgumentError } from 'commander';
import { day, instant } from '../platform/instant.ts';
import { retentionDaysMax, timeMsMax } from '../platform/limits.ts';
import { uuidShape } from '../platform/uuid.ts';
import { isEmail, normalizeEmail } from '../store/accounts/email.ts';
import { type Role, roles } from '../store/accounts/role.ts';
import type { BillingState } from '../store/accounts/spaces.ts';
import { isPrice } from '../store/prices/decimal.ts';
import { type Rates, rates } from '../store/prices/rates.ts';
import { CommandError } from './host.ts';

/** Argument parsers. Commander reports an InvalidArgumentError as bad usage, exit code 2. */

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number, ${range}.`);
  };
}

/** A parser that also takes `none`. It does not return null, which commander treats as a failure. */
function orNone<T>(parse: (text: string) => T): (text: string) => T | 'none' {
  return (text) => (text === 'none' ? text : parse(text));
}

/** Text that is used as it was given. */
function textThat(isValid: (text: string) => boolean, mistake: string): (text: string) => string {
  return (text) => {
    if (isValid(text)) return text;
    throw new InvalidArgumentError(mistake);
  };
}

/** Events a month; `none` is unlimited. */
export const parseEventLimit = orNone(wholeNumber(0));

/** Retention in days; `none` is unlimited. */
export const parseRetentionDays = orNone(wholeNumber(1, retentionDaysMax));

export function parseBillingState(text: string): BillingState {
  if (text === 'active' || text === 'inactive') return text;
  throw new InvalidArgumentError('It must be active or inactive.');
}

export function parseRole(text: string): Role {
  const role = roles.find((one) => one === text);
  if (role !== undefined) return role;
  throw new InvalidArgumentError(`It must be one of ${roles.join(', ')}.`);
}

/** `none` removes the user from the space. */
export const parseRoleOrNone = orNone(parseRole);

export function parseEmail(text: string): string {
  const email = normalizeEmail(text);
  if (isEmail(email)) return email;
  throw new InvalidArgumentError('It must be an e-mail address.');
}

export const parseHttpUrl = textThat(
  (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
  'It must be a URL that starts with http:// or https://.',
);

/** Accepts anything that an HTTP header can carry: ingest checks whether it is a key. */
export const parseApiKey = textThat(
  (text) => /^[\x21-\x7e]+$/.test(text),
  'It must be ASCII, without white space.',
);

/** Postgres rejects U+0000, and other control characters would garble a terminal. */
export function parseName(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  if (/\p{Cc}/u.test(text)) throw new InvalidArgumentError('It must not contain control characters.');
  return text;
}

/** A price, kept as text because it is an exact decimal. */
export const parsePrice = textThat(
  isPrice,
  'It must be a decimal such as 2.50, with at most 6 digits after the decimal point.',
);

export function parseRate(text: string, before: Rates): Rates {
  const at = text.indexOf('=');
  const { data, error } = rates.safeParse({ [text.slice(0, at)]: text.slice(at + 1) });
  if (data !== undefined) return { ...before, ...data };
  const [issue] = error.issues;
  const [inner] = issue?.code === 'invalid_key' ? issue.issues : [issue];
  throw new InvalidArgumentError(`${inner?.message}.`);
}

/** A day, `YYYY-MM-DD`. */
export const parseDay = textThat(
  (text) => day.safeParse(text).success,
  'It must be a day such as 2026-11-30.',
);

/** An instant, as milliseconds since the epoch or in ISO 8601. @returns milliseconds since the epoch. */
export function parseTime(text: string): number {
  const timeMs = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : instant.safeParse(text).data;
  if (timeMs !== undefined && Math.abs(timeMs) <= timeMsMax) return timeMs;
  throw new InvalidArgumentError(
    'It must be a time with a zone such as 2026-11-30T12:00:00Z, a day, or milliseconds since 1970.',
  );
}

/** A bound in the future would have everything within it. */
export function parsePastTime(text: string): number {
  const timeMs = parseTime(text);
  if (timeMs <= Date.now()) return timeMs;
  throw new InvalidArgumentError('It must not be in the future.');
}

/** A duration in milliseconds. Negative and fractional ones are allowed, as in events. */
export function parseDuration(text: string): number {
  const duration = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(duration) <= timeMsMax) return duration;
  throw new InvalidArgumentError('It must be a number of milliseconds.');
}

export function parseTrace(text: string): string {
  if (uuid.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a UUID.');
}

/** The value may contain equals signs. */
export function collectAttributes(
  text: string,
  before: readonly { key: string; value: string }[] = [],
): readonly { key: string; value: string }[] {
  const at = text.indexOf('=');
  if (at > 0) return [...before, { key: text.slice(0, at), value: text.slice(at + 1) }];
  throw new InvalidArgumentError('It must be a key, an equals sign, and the value.');
}

/** A label, or a label and its value. */
export function collectLabels(
  text: string,
  before: readonly { label: string; value?: string }[] = [],
): readonly { label: string; value?: string }[] {
  const [, label = '', value] = /^([^=]*)(?:=(.*))?$/su.exec(text) ?? [];
  if (label !== '') return [...before, { label, ...(value !== undefined && { value }) }];
  throw new InvalidArgumentError('It must be a label, or a label, an equals sign, and its value.');
}

const uuid = new RegExp(`^${uuidShape}$`, 'i');

/** A malformed id is reported like an unknown one. @throws CommandError when the text is not a UUID. */
export function parseId(kind: string, text: string): string {
  if (uuid.test(text)) return text.toLowerCase();
  throw new CommandError(`There is no ${kind} ${JSON.stringify(text)}: its id is a UUID.`);
}
