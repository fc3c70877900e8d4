import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IngestError } from '../../../event/errors.ts';
import { FailureLog, unavailableLogMs } from './failure-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const entries: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => entries.push(JSON.parse(line)) });
  return { entries, failures: new FailureLog(log) };
}

const warn = 40;
const unavailable = (details: string, cause?: Error) =>
  new IngestError('ingest_unavailable', details, cause && { cause });

test('a flood of 503s is one warning at once, and then one summary a second', () => {
  const { entries, failures } = open();
  for (let i = 0; i < 1_000; i++) failures.note(unavailable('No room.'));
  expect(entries).toMatchObject([{ level: warn, details: 'No room.', requests: 1 }]);
  vi.advanceTimersByTime(unavailableLogMs);
  expect(entries.slice(1)).toMatchObject([{ level: warn, details: 'No room.', requests: 999 }]);
  failures.note(unavailable('No room.'));
  vi.advanceTimersByTime(unavailableLogMs * 10);
  expect(entries.slice(2)).toMatchObject([{ level: warn, requests: 1 }]);
});

test('each reason has its own summary, with the last cause', () => {
  const { entries, failures } = open();
  for (const reason of ['No room.', 'No queue.']) {
    failures.note(unavailable(reason, new Error(`first of ${reason}`)));
    failures.note(unavailable(reason, new Error(`last of ${reason}`)));
  }
  failures[Symbol.dispose]();
  expect(entries.slice(2)).toMatchObject([
    { details: 'No room.', requests: 1, err: { message: 'last of No room.' } },
    { details: 'No queue.', requests: 1, err: { message: 'last of No queue.' } },
  ]);
});

test('an unexpected error is an error line with its cause, and a 4xx is a debug line without details', () => {
  const { entries, failures } = open();
  failures.note(IngestError.from(new Error('a defect')));
  failures.note(new IngestError('too_many_events', 'The batch has 501 events.'));
  expect(entries).toMatchObject([
    { level: 50, id: 'internal_server_error', err: { message: 'a defect' } },
    { level: 20, id: 'too_many_events' },
  ]);
  expect(entries[1]).not.toHaveProperty('details');
});
