/**
 * A place in the order in which the events of a space were stored: by transaction, then by segment, then by index. All
 * events up to and including this one have been read.
 */
export interface TailPosition {
  /** A transaction id, an xid8 as text. */
  readonly xid: string;
  readonly segmentId: string;
  readonly segmentIndex: number;
  /** The clock of Postgres when this was read, in seconds since the epoch. */
  readonly atSeconds: number;
}

const nilUuid = '00000000-0000-0000-0000-000000000000';

/** Behind every event of a segment. `segment_index` is an integer of Postgres. */
export const lastIndex = 2 ** 31 - 1;

/** The place before all events of a transaction. */
export function beginningOf(xid: string, atSeconds: number): TailPosition {
  return { xid, segmentId: nilUuid, segmentIndex: -1, atSeconds };
}

/** The order of a tail: negative when `a` comes first. */
export function comparePositions(a: TailPosition, b: TailPosition): number {
  const [left, right] = [BigInt(a.xid), BigInt(b.xid)];
  if (left !== right) return left < right ? -1 : 1;
  if (a.segmentId !== b.segmentId) return a.segmentId < b.segmentId ? -1 : 1;
  return a.segmentIndex - b.segmentIndex;
}

const shape = /^(\d{1,19})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\.(-1|\d{1,10})\.(\d{1,12})$/;

/** A position as opaque text for clients: the id of a message of a tail. */
export function formatPosition({ xid, segmentId, segmentIndex, atSeconds }: TailPosition): string {
  const segment = segmentId === nilUuid ? '' : segmentId;
  return Buffer.from(`${xid}.${segment}.${segmentIndex}.${atSeconds}`).toString('base64url');
}

/** @returns undefined when the text was not made by {@link formatPosition}. */
export function parsePosition(text: string): TailPosition | undefined {
  const [, xid, segmentId = nilUuid, index, at] =
    shape.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  const segmentIndex = Number(index);
  if (xid === undefined || BigInt(xid) > xidMax || !(segmentIndex <= lastIndex)) return undefined;
  return { xid, segmentId, segmentIndex, atSeconds: Number(at) };
}

/** The largest id that compares as Postgres's own do in every place: 63 bits. */
const xidMax = 2n ** 63n - 1n;
