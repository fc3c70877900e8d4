import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openEventFile } from '../../cli/client/event-file.ts';
import { eventsPerBatchMax } from '../../platform/limits.ts';
import { prepareFreshBodies } from './fresh-bodies.ts';
import { prepareFreshMessages } from './rpc-bodies.ts';

/** Real events if they are available; else Weir's sample events. */
const sources = ['../../../shared/data/agent-runs.ndjson.gz', '../../examples/events.ndjson'];

/** Request bodies that are sent repeatedly, each time with new ids. */
export interface Workload {
  source: string;
  /** The events of the source, each with the bytes of its line. */
  events: Buffer[];
  /** The next request body of 500 events. */
  nextBatch(): Buffer;
  /** The next request body of one event. */
  nextSingle(): Buffer;
  /** The same in protobuf. */
  nextBatchMessage(): Buffer;
  nextSingleMessage(): Buffer;
  /** The next request body of 1 to 20 events. */
  nextSmall(): Buffer;
}

export async function loadWorkload(): Promise<Workload> {
  const path = sources.map((source) => fileURLToPath(new URL(source, import.meta.url))).find(existsSync);
  if (path === undefined) throw new Error('there are no events to send');
  const events: Buffer[] = [];
  const file = await openEventFile(path, (line) => {
    throw new Error(`${path}: ${line.details}`);
  });
  for await (const event of file.events) events.push(event.bytes);
  const batches = Array.from({ length: 4 }, (_, i) => take(events, i * 500, eventsPerBatchMax));
  const singles = events.slice(0, 500).map((event) => [event]);
  const smalls = Array.from({ length: 200 }, (_, i) =>
    prepareFreshBodies(take(events, i * 7, 1 + ((i * 13) % 20))),
  );
  return {
    source: path.replace(/.*\//, ''),
    events,
    nextBatch: inTurn(batches.map(prepareFreshBodies)),
    nextSingle: inTurn(singles.map(prepareFreshBodies)),
    nextBatchMessage: inTurn(batches.map(prepareFreshMessages)),
    nextSingleMessage: inTurn(singles.map(prepareFreshMessages)),
    nextSmall: inTurn(smalls),
  };
}

/** Takes events from an index on, starting over at the end of the source. */
function take(events: Buffer[], from: number, count: number): Buffer[] {
  return Array.from({ length: count }, (_, i) => events[(from + i) % events.length] ?? Buffer.alloc(0));
}

function inTurn(bodies: (() => Buffer)[]): () => Buffer {
  let next = 0;
  return () => bodies[next++ % bodies.length]?.() ?? Buffer.alloc(0);
}
