import { escapeCharsMax, isEscaped, isInsideEscape } from '../json/escapes.ts';
import type { Range } from '../json/scan.ts';
import { cutText } from '../text.ts';

/** A text that was found in an event, with what stands around it. */
export interface Excerpt {
  /** Where it stands: `properties.llm.input.tools[0].name`. */
  path: string;
  /** Begins with an ellipsis where it is cut. */
  before: string;
  hit: string;
  /** Ends with an ellipsis where it is cut. */
  after: string;
}

/** Characters before a hit: few, so that a row of a list has room for the hit. */
const beforeCharsMax = 32;
const afterCharsMax = 120;

/** A key can be a megabyte. */
const pathCharsMax = 256;

/** Hits that are passed to find one in the payload: each is located from the start. */
const hitsPassed = 10;

/**
 * The first hit in a value of the payload, otherwise in another value, such as an agent's name, or a key.
 * @param hits positions in the event's JSON, in order, none of which begins inside of an escape.
 * @returns undefined without hits.
 */
export function excerptOf(json: string, hits: Iterable<Range>): Excerpt | undefined {
  let best: { hit: Range; place: Place } | undefined;
  let passed = 0;
  for (const hit of hits) {
    const place = locate(json, hit);
    if (best === undefined || rankOf(place) > rankOf(best.place)) best = { hit, place };
    if (rankOf(place) === 2 || ++passed > hitsPassed) break;
  }
  return best && cutOut(json, best.hit, best.place);
}

function rankOf({ isKey, path }: Place): 0 | 1 | 2 {
  if (isKey) return 0;
  return path.startsWith('properties.') ? 2 : 1;
}

/** The positions of the string around a hit, without quotes, or of another scalar. */
interface Place extends Range {
  path: string;
  isKey: boolean;
  isString: boolean;
}

const beforeColon = /\s*:/y;

function locate(json: string, hit: Range): Place {
  // Of each object and array around the position: the key as it is written, or the index.
  const steps: (string | number)[] = [];
  let at = 0;
  for (; at < hit.start; at++) {
    const character = json[at];
    const last = steps.length - 1;
    if (character === '"') {
      const end = endOfString(json, at);
      beforeColon.lastIndex = end + 1;
      const isKey = beforeColon.test(json);
      if (isKey) steps[last] = json.slice(at, end + 1);
      if (hit.start < end) return { path: formatPath(steps), start: at + 1, end, isKey, isString: true };
      at = end;
    } else if (character === '{') steps.push('""');
    else if (character === '[') steps.push(0);
    else if (character === '}' || character === ']') steps.pop();
    else if (character === ',' && typeof steps[last] === 'number') steps[last] += 1;
  }
  const head = /[^\s,:[\]{}"]*$/.exec(json.slice(Math.max(0, at - beforeCharsMax), at))?.[0] ?? '';
  const tail = /^[^\s,:[\]{}"]*/.exec(json.slice(hit.end, hit.end + afterCharsMax))?.[0] ?? '';
  const [start, end] = [hit.start - head.length, hit.end + tail.length];
  return { path: formatPath(steps), start, end, isKey: false, isString: false };
}

/** @returns the position of the closing quote. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function formatPath(steps: readonly (string | number)[]): string {
  let path = '';
  for (const step of steps) {
    const name = typeof step === 'number' ? undefined : /^"([A-Za-z_$][\w$]*)"$/.exec(step)?.[1];
    if (name === undefined) path += `[${step}]`;
    else path += path === '' ? name : `.${name}`;
    if (path.length > pathCharsMax) return `${cutText(path, pathCharsMax)}…`;
  }
  return path;
}

function cutOut(json: string, hit: Range, { path, start, end, isString }: Place): Excerpt {
  const decode = (from: number, to: number): string => {
    const text = json.slice(from, to);
    return isString ? JSON.parse(`"${text}"`) : text;
  };
  let from = Math.max(start, hit.start - beforeCharsMax * escapeCharsMax);
  while (from > start && isInsideEscape(json, from)) from -= 1;
  let to = Math.min(end, hit.end + afterCharsMax * escapeCharsMax);
  while (to < end && isInsideEscape(json, to)) to += 1;
  const [before, after] = [decode(from, hit.start), decode(hit.end, to)];
  const isCutBefore = from > start || before.length > beforeCharsMax;
  const isCutAfter = to < end || after.length > afterCharsMax;
  return {
    path,
    before: (isCutBefore ? `…${wordsAtEnd(before)}` : before).toWellFormed(),
    hit: decode(hit.start, hit.end).toWellFormed(),
    after: (isCutAfter ? `${wordsAtStart(after)}…` : after).toWellFormed(),
  };
}

// A word that is cut in two is left out: half of a secret would not be recognised, and shown.

function wordsAtEnd(text: string): string {
  return text.slice(-beforeCharsMax).replace(/^[\uDC00-\uDFFF]?[\w.+/=-]*/, '');
}

function wordsAtStart(text: string): string {
  return cutText(text, afterCharsMax).replace(/[\w.+/=-]+$/, '');
}
