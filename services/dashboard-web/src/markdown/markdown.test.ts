import { lexer } from 'marked';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Toasts } from '../ui/toasts.tsx';
import { Blocks } from './blocks.tsx';
import { hasMarkup } from './markup.ts';
import { safeLink } from './safe-link.ts';

const draw = (text: string) =>
  renderToStaticMarkup(
    createElement(Toasts, null, createElement(Blocks, { tokens: lexer(text), depth: 0 })),
  ).replaceAll(/ class="[^"]*"/g, '');

test('headings, emphasis, code, lists, tables and quotes are drawn', () => {
  expect(draw('# A *b* `c`')).toBe('<h3>A <em>b</em> <code>c</code></h3>');
  expect(draw('3. x\n4. **y**')).toBe(
    '<ol start="3"><li><span>x</span></li><li><span><strong>y</strong></span></li></ol>',
  );
  expect(draw('- [x] x')).toContain('aria-label="done">☑ </span><span>x</span>');
  expect(draw('|a|b|\n|-|-|\n|1|2|')).toContain('<td>1</td><td>2</td>');
  expect(draw('|a|b|\n|-:|-|\n|1|2|')).toContain('<td style="text-align:right">1</td><td>2</td>');
  expect(draw('> q')).toBe('<blockquote><p>q</p></blockquote>');
  expect(draw('```js\na  <b>\n```')).toContain('<pre>a  &lt;b&gt;</pre>');
});

test.for([
  ['HTML', '<img src=x onerror=alert(1)> <script>alert(1)</script>'],
  ['a block of HTML', '<div onclick="alert(1)">\nhi\n</div>'],
  ['a script as a link', '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x)'],
  ['a path of the dashboard', '[a](/s/x) [b](//evil.example) [c](#x)'],
  ['a host that is none', '[a](https://weir.example@evil.example/)'],
  ['an image', '![a](https://evil.example/?secret)'],
  ['an image in a link', '[![a](https://evil.example/i)](javascript:1)'],
] as const)('%s is a text', ([, text]) => {
  const drawn = draw(text);
  expect(drawn).not.toMatch(/<(?!\/?(p|div|span|svg|path|line|polyline|rect|circle)\b)/);
  expect(drawn).not.toMatch(/\s(href|src|on\w+)="/);
});

test('a link says where it leads, and tells nobody where it was clicked', () => {
  expect(draw('[bank](https://evil.example/x?y=1)')).toMatch(
    /^<p><a href="https:\/\/evil\.example\/x\?y=1" target="_blank" rel="noopener noreferrer nofollow">bank<span> \(evil\.example\)<\/span>/,
  );
  expect(draw('see https://weir.example/a and a@b.example')).not.toContain('<span>');
  expect(draw('[https://good.example](https://evil.example)')).toContain('(evil.example)');
  expect(safeLink('mailto:a@b.example')).toEqual({ href: 'mailto:a@b.example', target: 'a@b.example' });
});

test('what is invisible is shown, secrets are masked, and deep nesting ends', () => {
  expect(draw('a\u202eb')).toContain('\\u202e');
  expect(draw('`sk-abcdefghijklmnopqrst`')).toContain('sk-ab••••');
  expect(draw('>'.repeat(300)).match(/<blockquote>/g)?.length).toBeLessThan(20);
});

test('a text with markup is found in linear time, whatever it holds', () => {
  for (const text of ['- a', 'a\n\n  1. b', '\t+ x', 'a *b*'])
    expect([text, hasMarkup(text)]).toEqual([text, true]);
  for (const text of ['a', '-a', 'a - b', '1.5', '\n\n x'])
    expect([text, hasMarkup(text)]).toEqual([text, false]);
  // Quadratic patterns take hours for these.
  for (const blank of ['\n', ' ', '\r', '\t\n']) expect(hasMarkup(`${blank.repeat(2_000_000)}x`)).toBe(false);
});
