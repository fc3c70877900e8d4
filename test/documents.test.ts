import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
// The changelog also names files of the past.
const documents = globSync('{*.md,docs/**/*.md,examples/**/*.md}', {
  cwd: root,
  exclude: (name) => name.includes('node_modules'),
}).filter((document) => document !== 'CHANGELOG.md');

/** A path in the text: `lib/limits.ts`, `docs/adr`, `services/ingest/read/`. */
const topPath = /`((?:\.ci|cli|docs|examples|gen|harness|launcher|lib|proto|services|test)\/[\w./-]+)`/g;
/** A file of ingest, named from there: `body/decode.ts`. */
const ingestPath = /`((?:admit|answer|body|commit|listen|read|rpc)\/[\w./-]+)`/g;
/** The target of a link inside of the repository. */
const link = /\]\(((?!https?:|#)[^)#]+)(?:#[^)]*)?\)/g;

test('every path and every link in a document exists', () => {
  expect(documents.length).toBeGreaterThan(20);
  const missing = documents.flatMap((document) => {
    const text = readFileSync(join(root, document), 'utf8');
    const find = (pattern: RegExp, from: string) =>
      [...text.matchAll(pattern)].map(([, path = '']) => join(from, path));
    return [...find(topPath, ''), ...find(ingestPath, 'services/ingest'), ...find(link, dirname(document))]
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${document}: ${path}`);
  });
  expect(missing).toEqual([]);
});
