import { uuidShape } from '../../platform/uuid.ts';

/** A place in a space's storage order: by commit, segment, and index. All events up to it were read. */
export interface TailPosition {
  /** The number of the commit; 0 before the first. */
  readonly number: number;
  /** The segment also identifies the commit: after a restore another one may have the same number. */
  readonly segmentId: string;
  readonly segmentIndex: number;
  /** The last change that was read; undefined for a reader that does not follow changes. */
  readonly change?: number | undefined;
}

const nilUuid = '00000000-0000-0000-0000-000000000000';

/** The position before all events of a space. */
export const firstPosition: TailPosition = { number: 0, segmentId: nilUuid, segmentIndex: -1 };

/** The position after every event of a segment: the largest Postgres integer. */
export const lastIndex = 2 ** 31 - 1;

/** Compares in storage order: negative when `a` comes first. */
export function comparePositions(a: TailPosition, b: TailPosition): number {
  if (a.number !== b.number) return a.number - b.number;
  if (a.segmentId !== b.segmentId) return a.segmentId < b.segmentId ? -1 : 1;
  return a.segmentIndex - b.segmentIndex;
}

const shape = new RegExp(`^(\\d{1,16})\\.(${uuidShape})\\.(-1|\\d{1,10})(?:\\.(\\d{1,15}))?$`);

/** Formats a position as opaque text for clients: the message id of a live stream. */
export function formatPosition({ number, segmentId, segmentIndex, change }: TailPosition): string {
  const own = `${number}.${segmentId}.${segmentIndex}`;
  return Buffer.from(change === undefined ? own : `${own}.${change}`).toString('base64url');
}

/** @returns undefined when {@link formatPosition} did not produce the text. */
export function parsePosition(text: string): TailPosition | undefined {
  const [, number, segmentId, index, change] =
    shape.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (segmentId === undefined) return undefined;
  const position = {
    ...{ number: Number(number), segmentId, segmentIndex: Number(index) },
    ...(change !== undefined && { change: Number(change) }),
  };
  const isInRange = Number.isSafeInteger(position.number) && position.segmentIndex <= lastIndex;
  return isInRange ? position : undefined;
}
