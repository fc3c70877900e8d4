import { expect, test } from 'vitest';
import { showInput } from './input-preview.ts';

test.each([
  ['Where is my bike?', 'Where is my bike?'],
  ['[{"role": "user", "content": "Where\\nis', 'Where\nis…'],
  ['{"messages":[{"role":"system","content":"Be \\"brief\\""},{"ro', 'system: Be "brief"…'],
  ['[{"role":"user","content":[{"type":"text","text":"Hi', 'Hi…'],
  ['[{"role":"user","content":"cut in an escape \\u00', '[{"role":"user","content":"cut in an escape \\u00'],
  ['[1, 2]', '[1, 2]'],
  ['x'.repeat(64), `${'x'.repeat(64)}…`],
])('the preview %s is shown as %s', (preview, shown) => {
  expect(showInput(preview)).toBe(shown);
});
