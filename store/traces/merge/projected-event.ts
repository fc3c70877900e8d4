import { columnNames, columnTypes } from '../../../event/columns.ts';
import type { IngestEvent } from '../../../event/event.ts';
import { projectEvents } from '../../../event/projection.ts';
import { unquoteElement } from '../../../event/text.ts';
import type { EventRow, ReplacedEvent } from '../apply-changes.ts';

/** An event's columns and terms with a new text; place and inherited values stay. @param row as stored. */
export function projectEvent(
  event: IngestEvent,
  row: EventRow,
): { columns: ReplacedEvent; terms: readonly bigint[] } {
  const { columns, terms } = projectEvents([event]);
  const values = Object.fromEntries(
    columnNames.map((name) => {
      const text = unquoteElement(columns[name]);
      const isNumber = columnTypes[name] === 'double precision' || columnTypes[name] === 'integer';
      if (text === undefined) return [name, null];
      // Numbers of attributes may have more digits than a double: they stay text.
      if (name === 'usageParts') return [name, JSON.parse(text)];
      return [name, isNumber ? Number(text) : text];
    }),
  );
  const { id, segmentId, segmentIndex, agentId, threadId, userId } = row;
  const projected = values as unknown as ReplacedEvent;
  return {
    columns: {
      ...projected,
      id,
      segmentId,
      segmentIndex,
      agentId: agentId ?? projected.agentId,
      threadId: threadId ?? projected.threadId,
      userId: userId ?? projected.userId,
    },
    terms,
  };
}
