import { expect, test } from 'vitest';
import { splitToolResults } from './repeated-text.ts';

const tools = [
  { name: 'get_order', outputPreview: '{"orderId":"ord_796017","state":"paid"', errorMessage: null },
  { name: 'ping', outputPreview: 'ok', errorMessage: null },
  { name: 'book', outputPreview: null, errorMessage: 'the calendar did not answer' },
];

test('lines that repeat the output of a tool are left out, whatever their white space', () => {
  const text =
    'Tool get_order: {"orderId": "ord_796017", "state": "paid", "items": []}\nCustomer: ok, thanks\n';
  expect(splitToolResults(text, tools)).toEqual({ rest: 'Customer: ok, thanks', results: 1 });
  expect(splitToolResults('Tool ping: ok\n', tools)).toEqual({ rest: '', results: 1 });
  const failed = 'Tool book: {"code":"timeout","message":"the calendar did not answer"}\n';
  expect(splitToolResults(failed, tools)).toEqual({ rest: '', results: 1 });
});

test('elements of a JSON array that have an output are left out', () => {
  const result = { role: 'tool', content: '{"orderId":"ord_796017","state":"paid"}' };
  const text = `${JSON.stringify(result)},{"role":"user","content":"thanks"}]`;
  expect(splitToolResults(text, tools)).toEqual({ rest: '{"role":"user","content":"thanks"}', results: 1 });
});

test('a prompt that is a short output with a number is left out; one that a person may have written is kept', () => {
  const countResults = (text: string, outputPreview: string) =>
    splitToolResults(text, [{ name: 'calculate', outputPreview, errorMessage: null }]).results;
  expect(countResults('957.0', '957.0')).toBe(1);
  for (const answer of ['2', 'ok', 'yes']) expect(countResults(answer, answer)).toBe(0);
  expect(countResults('Pay 957.0 then', '957.0')).toBe(0);
});

test('a prompt without results is kept as it is', () => {
  for (const text of ['', 'ok\n', 'Customer: hello\n\n', '[1]', '{"a":1}'])
    expect(splitToolResults(text, tools)).toEqual({ rest: text, results: 0 });
  expect(splitToolResults('anything', [{ name: 'n', outputPreview: null, errorMessage: null }]).results).toBe(
    0,
  );
});
