import type { Database } from '../../../lib/db/database.ts';
import { calledTool, member } from '../../../lib/event/tool-calls.ts';
import { EventTextsTooLargeError, readEventTexts } from '../../../lib/segment/read.ts';
import { toolCallCharsMax, toolCallEventsMax } from '../limits.ts';
import type { TraceRow } from './trace-events.ts';

export interface ToolCalls {
  /** The names of the tools that each LLM event called, by its id. */
  names: Map<string, string[]>;
  /** Whether all LLM events were looked at: a trace with many, or with large ones, is not. */
  isComplete: boolean;
}

/**
 * Reads which tools the LLM events of a trace called, in order. The calls are in the events' text only, so few events are
 * read: those that an event of a tool comes after.
 */
export async function readToolCalls(
  database: Database,
  spaceId: string,
  rows: readonly TraceRow[],
): Promise<ToolCalls> {
  const lastTool = rows.findLastIndex(({ type }) => type === 'tool');
  const asked = rows.filter(({ type }, place) => type === 'llm' && place < lastTool);
  const read = asked.slice(0, toolCallEventsMax);
  try {
    const texts = await readEventTexts(database, spaceId, read, { charsMax: toolCallCharsMax });
    const names = read.map(({ id }, place) => [id, parseToolCalls(texts[place])] as const);
    return { names: new Map(names), isComplete: read.length === asked.length };
  } catch (error) {
    if (error instanceof EventTextsTooLargeError) return { names: new Map(), isComplete: false };
    throw error;
  }
}

/** The names of the tools, in the order of the calls. */
function parseToolCalls(text: string | undefined): string[] {
  if (text === undefined || !text.includes('toolCalls')) return [];
  const event: unknown = JSON.parse(text);
  const calls = member(member(member(member(event, 'properties'), 'llm'), 'output'), 'toolCalls');
  if (!Array.isArray(calls)) return [];
  return calls.map(calledTool).filter((name) => name !== undefined);
}
