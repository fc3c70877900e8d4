import { parentPort } from 'node:worker_threads';
import {
  type FoundText,
  findTextInSegment,
  type WantedText,
  wantedText,
} from '../../../event/segment/find-text.ts';

/** SegmentSearcher's thread: searches the segment of each task, and posts what it found. */

/** The segment's bytes are transferred, not copied. */
export interface SearchTask {
  id: number;
  text: string;
  matchCase: boolean;
  segment: Uint8Array;
}

/** The events that have the text, or why the segment could not be searched. */
export type SearchOutcome = { id: number } & ({ found: FoundText[] } | { failure: string });

let last: { text: string; matchCase: boolean; wanted: WantedText } | undefined;

parentPort?.on('message', (task: SearchTask) => parentPort?.postMessage(search(task)));

function search({ id, text, matchCase, segment }: SearchTask): SearchOutcome {
  try {
    // A search has many segments, and preparing its text takes longer than searching a small one.
    if (last?.text !== text || last.matchCase !== matchCase)
      last = { text, matchCase, wanted: wantedText(text, matchCase) };
    const bytes = Buffer.from(segment.buffer, segment.byteOffset, segment.byteLength);
    return { id, found: findTextInSegment(bytes, last.wanted) };
  } catch (error) {
    return { id, failure: String(error) };
  }
}
