import { expect, test } from 'vitest';
import { type ErrorId, errorTable, IngestError } from './errors.ts';

/** The error table of the public contract, with its titles. */
const contract: [ErrorId, number, string][] = [
  ['invalid_request_body', 400, 'Body is missing or is not valid JSON.'],
  ['invalid_event_batch', 400, 'JSON does not match { events: [...] } with valid events.'],
  ['unauthorized', 401, 'API key missing, malformed, invalid or revoked.'],
  ['usage_limit_exceeded', 402, 'The space has reached its monthly included event limit.'],
  ['billing_not_active', 402, 'The subscription is not active.'],
  ['batch_too_large', 413, 'Request body exceeds 4 MiB.'],
  ['too_many_events', 413, 'More than 500 events in one request.'],
  ['internal_server_error', 500, 'Unexpected server error.'],
  ['ingest_unavailable', 503, 'Ingest is temporarily unavailable.'],
];
const titles: [ErrorId, string][] = [
  ['unauthorized', 'Unauthorized'],
  ['usage_limit_exceeded', 'Usage limit exceeded'],
  ['too_many_events', 'Too many events'],
];
/** Weir's additional errors (docs/api.md §7). */
const ours = ['not_found', 'method_not_allowed', 'unsupported_media_type'];

test("the error table is the contract's, followed by ours", () => {
  expect(Object.keys(errorTable)).toEqual([...contract.map(([id]) => id), ...ours]);
  for (const [id, status, condition] of contract) expect(errorTable[id]).toMatchObject({ status, condition });
  for (const [id, title] of titles) expect(errorTable[id].title).toBe(title);
});

test('an error has the shape of docs/api.md §7', () => {
  expect(new IngestError('too_many_events', 'The batch has 501 events.').toBody()).toEqual({
    error: {
      id: 'too_many_events',
      title: 'Too many events',
      status: 413,
      details: 'The batch has 501 events.',
    },
  });
});

test('an unexpected error is a 500 without internal details', () => {
  const error = IngestError.from(new Error('connection to 10.0.0.7 refused'));
  expect(error.status).toBe(500);
  expect(JSON.stringify(error.toBody())).not.toContain('10.0.0.7');
});

test('details stay short however long the names of the fields are', () => {
  expect(new IngestError('invalid_event_batch', 'x'.repeat(10_000)).toBody().error.details.length).toBe(500);
});
