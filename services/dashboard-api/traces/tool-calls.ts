import type { Database } from '../../../store/db/database.ts';
import { EventTextsTooLargeError, readEventTexts } from '../../../store/segments/read.ts';
import { toolCallCharsMax, toolCallEventsMax, toolCallSliceChars, toolCallsPerEventMax } from '../limits.ts';
import { letOthersRun } from '../slices.ts';
import { readCalledTools } from './called-tools.ts';
import type { TraceRow } from './trace-events.ts';

export interface ToolCalls {
  /** The names of the tools that each LLM event called, by event id. */
  names: Map<string, string[]>;
  /** False when calls were left out, because the trace has many or large LLM events, or one with very many calls. */
  isComplete: boolean;
}

/**
 * Reads the tools that the LLM events of a trace called, in order. Calls are only in the events' texts, so as few events as possible
 * are read: those that are followed by a tool event.
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
    const found: ToolCalls = { names: new Map(), isComplete: read.length === asked.length };
    let scannedChars = 0;
    for (const [place, { id }] of read.entries()) {
      const text = texts[place] ?? '';
      if (scannedChars > 0 && scannedChars + text.length > toolCallSliceChars) {
        await letOthersRun();
        scannedChars = 0;
      }
      scannedChars += text.length;
      const { names, isComplete } = readCalledTools(text, toolCallsPerEventMax);
      found.names.set(id, names);
      found.isComplete &&= isComplete;
    }
    return found;
  } catch (error) {
    if (error instanceof EventTextsTooLargeError) return { names: new Map(), isComplete: false };
    throw error;
  }
}
