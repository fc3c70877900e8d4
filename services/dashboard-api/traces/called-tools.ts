import { isKey, type Range, skipSpace, skipValue, walkArray, walkObject } from '../../../event/json/scan.ts';
import { asStored } from '../../../event/text.ts';
import { calledTool } from '../../../event/tool-calls.ts';

const openBrace = 0x7b;
const openBracket = 0x5b;
const quote = 0x22;

const callsPath = ['properties', 'llm', 'output', 'toolCalls'];

export interface CalledTools {
  /** In call order, normalized like the column `name` of the tools' events. */
  readonly names: string[];
  /** Whether the event has at most `callsMax` calls. */
  readonly isComplete: boolean;
}

/**
 * Names of the first `callsMax` tools that an LLM event called, at 12 ms per MiB of its text. Only the names
 * are parsed: a 4 MiB event of small objects would take 100 MiB of memory.
 */
export function readCalledTools(text: string, callsMax: number): CalledTools {
  // Fast path: most events have no tool calls.
  if (!text.includes('toolCalls')) return { names: [], isComplete: true };
  const bytes = Buffer.from(text);
  const calls: Range[] = [];
  let count = 0;
  const visitCall = (start: number): number => {
    const end = skipValue(bytes, start);
    if (++count <= callsMax) calls.push({ start, end });
    return end;
  };
  const visitMember = (key: Range, start: number, depth: number): number => {
    if (!isKey(bytes, key, callsPath[depth] ?? '')) return skipValue(bytes, start);
    // A duplicate member replaces the earlier one, as in JSON.parse.
    calls.length = 0;
    count = 0;
    const isLast = depth === callsPath.length - 1;
    if (isLast && bytes[start] === openBracket) return walkArray(bytes, start, visitCall);
    if (isLast || bytes[start] !== openBrace) return skipValue(bytes, start);
    return walkObject(bytes, start, (inner, at) => visitMember(inner, at, depth + 1));
  };
  walkObject(bytes, skipSpace(bytes, 0), (key, start) => visitMember(key, start, 0));
  const names = calls.flatMap((call) => calledTool(readNames(bytes, call.start)) ?? []);
  return { names, isComplete: count <= callsMax };
}

/** Strings with these names, one of them in a nested object, may name the tool. */
function readNames(bytes: Buffer, at: number): unknown {
  if (bytes[at] !== openBrace) return undefined;
  const found: Record<string, unknown> = {};
  walkObject(bytes, at, (key, start) => {
    const end = skipValue(bytes, start);
    const name = ['toolName', 'name', 'function', 'tool'].find((one) => isKey(bytes, key, one));
    if (name !== undefined)
      found[name] = name === 'function' ? readNames(bytes, start) : readName(bytes, { start, end });
    return end;
  });
  return found;
}

/** @returns a string, null, or false for any other JSON type. */
function readName(bytes: Buffer, { start, end }: Range): string | null | false {
  const text = () => bytes.toString('utf8', start, end);
  if (bytes[start] === quote) return asStored(String(JSON.parse(text())));
  return end - start === 4 && text() === 'null' ? null : false;
}
