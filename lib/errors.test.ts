import { expect, test } from 'vitest';
import { type ErrorId, errorTable, IngestError } from './errors.ts';

/** The table of contract §7, and the titles that it gives. */
const contract: [ErrorId, number][] = [
  ['invalid_request_body', 400],
  ['invalid_event_batch', 400],
  ['unauthorized', 401],
  ['usage_limit_exceeded', 402],
  ['billing_not_active', 402],
  ['batch_too_large', 413],
  ['too_many_events', 413],
  ['internal_server_error', 500],
  ['ingest_unavailable', 503],
];
const titles: [ErrorId, string][] = [
  ['unauthorized', 'Unauthorized'],
  ['usage_limit_exceeded', 'Usage limit exceeded'],
  ['too_many_events', 'Too many events'],
];
/** What the contract is silent on (design §3). */
const ours = ['not_found', 'method_not_allowed'];

test("the error table is the contract's, and ours beside it", () => {
  expect(Object.keys(errorTable)).toEqual([...contract.map(([id]) => id), ...ours]);
  for (const [id, status] of contract) expect(errorTable[id].status, id).toBe(status);
  for (const [id, title] of titles) expect(errorTable[id].title).toBe(title);
});

test('an error has the shape of contract §7', () => {
  expect(new IngestError('too_many_events', 'The batch has 501 events.').toBody()).toEqual({
    error: {
      id: 'too_many_events',
      title: 'Too many events',
      status: 413,
      details: 'The batch has 501 events.',
    },
  });
});

test('what was not foreseen is a 500 that tells nothing of ours', () => {
  const error = IngestError.from(new Error('connection to 10.0.0.7 refused'));
  expect(error.status).toBe(500);
  expect(JSON.stringify(error.toBody())).not.toContain('10.0.0.7');
});

test('details stay short whatever a client calls its fields', () => {
  expect(new IngestError('invalid_event_batch', 'x'.repeat(10_000)).toBody().error.details.length).toBe(500);
});
