import { expect, test } from 'vitest';
import { mapRequests } from '../../../../test/support/otlp/mapped-spans.ts';
import { sendersPerRequestMax } from '../limits.ts';

const chat = { 'gen_ai.operation.name': 'chat' };

test('spans are counted by service and library, and by what becomes of them', () => {
  const resource = {
    'service.name': 'planner\0',
    'telemetry.sdk.language': 'python',
    'telemetry.sdk.version': '1.45.2',
  };
  const { senders } = mapRequests(
    {
      resource,
      scope: { name: 'outer', version: '1.0' },
      spans: [
        { spanId: '0000000000000001', attributes: chat },
        { spanId: '0000000000000003', attributes: { 'http.request.method': 'GET' } },
      ],
    },
    {
      resource,
      scope: { name: 'inner', version: '2.0' },
      spans: [
        { spanId: '0000000000000002', parentSpanId: '0000000000000001', attributes: chat },
        { spanId: 'abcd', attributes: chat },
      ],
    },
  );
  const program = { service: 'planner', sdk: 'python 1.45.2' };
  expect(senders).toEqual([
    { ...program, scope: 'outer', version: '1.0', stored: 0, merged: 1, leftOut: 1, refused: 0 },
    {
      ...program,
      scope: 'inner',
      version: '2.0',
      stored: 1,
      merged: 0,
      leftOut: 0,
      refused: 1,
      refusal: 'A span has no valid span id.',
    },
  ]);
});

test('sources that differ in other attributes are one sender, and senders beyond the limit share a count', () => {
  const requestOf = (service: string, host: number) => ({
    resource: { 'service.name': service, 'host.id': host },
    spans: [{}],
  });
  expect(mapRequests(requestOf('a', 1), requestOf('a', 2)).senders).toMatchObject([
    { service: 'a', leftOut: 2 },
  ]);
  const many = Array.from({ length: sendersPerRequestMax + 5 }, (_, index) => requestOf(`s-${index}`, 1));
  const { senders } = mapRequests(...many);
  expect(senders).toHaveLength(sendersPerRequestMax + 1);
  expect(senders.at(-1)).toMatchObject({ service: 'other', scope: '', leftOut: 5 });
});
