import type { Part } from '../queue/group.ts';
import { uuidChars } from './well-formed.ts';

/**
 * The positions, counted from 1 over all parts, of events whose id an earlier event of the same space has. It is done here
 * because in SQL it takes a sort of all rows, for what is almost never there.
 *
 * @param parts well-formed: their ids are UUIDs in lower case, of one length.
 */
export function findRepeatedIds(parts: readonly Part[]): number[] {
  const seenBySpace = new Map<string, Set<string>>();
  const repeated: number[] = [];
  let position = 0;
  for (const { spaceId, columns } of parts) {
    const seen = seenBySpace.get(spaceId) ?? new Set();
    seenBySpace.set(spaceId, seen);
    const ids = columns?.id ?? '';
    for (let at = 0; at < ids.length; at += uuidChars + 1) {
      position += 1;
      const id = ids.slice(at, at + uuidChars);
      if (seen.has(id)) repeated.push(position);
      else seen.add(id);
    }
  }
  return repeated;
}
