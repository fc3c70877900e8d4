import { expect, test } from 'vitest';
import { parseTraceparent } from './traceparent.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

test('a traceparent is read as W3C Trace Context says, also that of a later version', () => {
  expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, isSampled: true });
  expect(parseTraceparent(`00-${traceId}-${spanId}-02`)).toEqual({ traceId, spanId, isSampled: false });
  expect(parseTraceparent(`cc-${traceId}-${spanId}-01-more`)).toEqual({ traceId, spanId, isSampled: true });
});

test.each([
  undefined,
  '',
  `ff-${traceId}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-011`,
])('%j is not a traceparent', (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});
