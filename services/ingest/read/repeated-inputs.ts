import { isKey, type KnownValues, type Range, skipSpace, skipValue } from '../../../event/json/scan.ts';

const quote = 0x22;
const openBracket = 0x5b;

/** Where inputs of an event are, and the two keys that calls of an agent repeat. Columns need neither. */
const path = ['properties', 'llm', 'input'];
const repeatedKeys = ['system', 'tools'];

/** Smallest value that is worth comparing. */
const repeatedBytesMin = 64;

/** How many different values of each key are compared: agents that call each other alternate. */
const recentMax = 4;

/**
 * Finds the system prompts and lists of tools of a body that equal, byte for byte, one of an event before.
 * They are three quarters of real batches, and need not be examined or parsed again: if the event before is
 * valid JSON, this value is, too.
 *
 * Belongs to one request body: its offsets are meaningless for any other.
 */
export class RepeatedInputs implements KnownValues {
  /** The repeated values, in the order of the body. */
  readonly #found: Range[] = [];
  readonly #recent: Range[][] = repeatedKeys.map(() => []);
  /** How many keys of `path` lead to the object that is walked over. */
  #matched = 0;
  #taken = 0;

  skip(bytes: Buffer, key: Range, depth: number, at: number): number {
    if (depth > path.length + 1) return at;
    if (depth === path.length + 1) {
      if (this.#matched < path.length) return at;
      const which = repeatedKeys.findIndex((name) => isKey(bytes, key, name));
      return which === -1 ? at : this.#skipInput(bytes, skipSpace(bytes, at), which);
    }
    // A key at this depth ends the objects that are deeper.
    this.#matched = Math.min(this.#matched, depth - 1);
    const name = path[depth - 1];
    if (this.#matched === depth - 1 && name !== undefined && isKey(bytes, key, name)) this.#matched = depth;
    return at;
  }

  #skipInput(bytes: Buffer, start: number, which: number): number {
    const first = bytes[start];
    if (first !== quote && first !== openBracket) return start;
    const recent = this.#recent[which] ?? [];
    for (const value of recent) {
      const end = start + value.end - value.start;
      if (end > bytes.length || bytes.compare(bytes, value.start, value.end, start, end) !== 0) continue;
      this.#found.push({ start, end });
      return end;
    }
    const end = skipValue(bytes, start);
    if (end - start >= repeatedBytesMin && recent.unshift({ start, end }) > recentMax) recent.pop();
    // The walk counts the values of an array, and looks for escaped keys in it.
    return first === quote ? end : start;
  }

  /** The text of the next event of the body, with an empty value in place of each repeated one. */
  textOf(bytes: Buffer, { start, end }: Range): string {
    let text = '';
    let from = start;
    for (; ; this.#taken += 1) {
      const value = this.#found[this.#taken];
      if (value === undefined || value.start >= end) break;
      // In a member of the body beside its events.
      if (value.start < start) continue;
      text += bytes.toString('utf8', from, value.start) + (bytes[value.start] === quote ? '""' : '[]');
      from = value.end;
    }
    return text + bytes.toString('utf8', from, end);
  }
}
