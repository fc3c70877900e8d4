import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toCurl } from './curl.ts';

test('a shell gives curl the body as it was sent', () => {
  const event = `{"a":"it's $HOME \`x\` \\\\ \\"q\\" !","n":12345678901234567890}`;
  const script = `curl() { for last; do :; done; printf %s "$last"; }\n${toCurl(event)}`;
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(`{"events":[${event}]}`);
});
