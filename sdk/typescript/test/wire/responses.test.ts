import { expect, test } from 'vitest';
import { responses } from '../../src/adapters/responses.ts';

test('in a stream that is cut off, the arguments of a remote tool are not text of the response', () => {
  const stream = responses.openStream();
  const push = (event: object) => stream.push(JSON.stringify(event));
  push({
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'mcp_call', name: 'search', status: 'in_progress' },
  });
  push({ type: 'response.mcp_call_arguments.delta', output_index: 0, delta: '{"q":"Bern"}' });
  push({ type: 'response.output_text.delta', output_index: 1, delta: 'It is' });
  expect(stream.answer()).toMatchObject({ response: 'It is', isComplete: false });
});
