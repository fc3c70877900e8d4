import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { guards } from './guards.ts';
import { readGuardNames } from './tlc.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

test('the guards are those of the model, and the lines of code and tests that they name exist', () => {
  expect(guards.map(({ name }) => name)).toEqual(readGuardNames());
  const missing = guards.flatMap(({ name, code, test }) =>
    [code, test].filter(([file, text]) => !read(file).includes(text)).map(([file]) => `${name}: ${file}`),
  );
  expect(missing).toEqual([]);
});

test('the page of the model lists each guard with its invariant, its code and its test', () => {
  const page = read('docs/model/README.md');
  const missing = guards.filter(
    ({ name, violates, code, test }) =>
      !page.includes(
        `| \`${name}\` | \`${violates}\` | [${code[0]}](../../${code[0]}) | [${test[0]}](../../${test[0]}) |`,
      ),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
});
