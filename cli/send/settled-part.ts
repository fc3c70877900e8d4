import { errorTable } from '../../event/errors.ts';
import type { BadLine } from '../client/event-file.ts';
import type { SentPart } from './checkpoint.ts';
import { createTally, type Tally } from './send-summary.ts';

/** One request of the file. */
export interface Sending {
  /** Counts its outcome. */
  tally: Tally;
  /** Everything in it was answered. */
  settle(): void;
}

/**
 * Adds up outcomes in the order of the file, although requests are answered in any order: a command that continues begins
 * after a position before which everything was answered.
 */
export interface SettledPart {
  /** The outcomes of all requests up to the position. */
  readonly total: Tally;
  part(): SentPart;
  /** Called in the order of the file. @param position the end of the request in the file. */
  begin(position: number): Sending;
  addBadLine(line: BadLine): void;
  /** The end of the file: every request was settled. */
  end(): void;
}

/** @param onSettled called whenever the position moves on. */
export function createSettledPart(
  before: SentPart | undefined,
  onSettled: (part: SentPart) => void,
): SettledPart {
  const total = createTally(before?.counts);
  const pending: { position: number; tally: Tally; isSettled: boolean }[] = [];
  let badLines: BadLine[] = [];
  let reached = before?.position ?? 0;
  const part = () => ({ position: reached, counts: total.counts() });
  const addBadLines = (position: number) => {
    for (const line of badLines.filter((one) => one.position <= position)) {
      total.addRejected({ status: errorTable[line.id].status, id: line.id, details: line.details }, 1);
    }
    badLines = badLines.filter((one) => one.position > position);
  };
  const moveOn = () => {
    while (pending[0]?.isSettled) {
      const { position, tally } = pending[0];
      pending.shift();
      addBadLines(position);
      total.merge(tally);
      reached = position;
      onSettled(part());
    }
  };
  return {
    total,
    part,
    begin(position) {
      const sending = { position, tally: createTally(), isSettled: false };
      pending.push(sending);
      return {
        tally: sending.tally,
        settle() {
          sending.isSettled = true;
          moveOn();
        },
      };
    },
    addBadLine: (line) => badLines.push(line),
    end: () => addBadLines(Number.POSITIVE_INFINITY),
  };
}
