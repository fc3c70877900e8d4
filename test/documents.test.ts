import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const glob = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: (name) => /node_modules|sdk\/typescript\/dist/.test(name) });
// The changelog also names files of the past.
const documents = glob('{*.md,{docs,examples,lab}/**/*.md}').filter((path) => path !== 'CHANGELOG.md');
const sources = glob(
  '{platform,event,store,operations,services,cli,launcher,harness,lab,sdk,examples,test}/**/*.{ts,tsx,mjs}',
);

const rooms = readdirSync(join(root, 'services/ingest'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** A path in the text: `platform/limits.ts`, `docs/adr`, `services/ingest/read/`. */
const topPath =
  /`((?:\.ci|cli|deploy|docs|event|examples|gen|harness|lab|launcher|operations|platform|proto|sdk|services|store|test)\/[\w./-]+)`/g;
/** A file of ingest, named from there: `body/decode.ts`. */
const ingestPath = new RegExp(`\`((?:${rooms.join('|')})/[\\w./-]+)\``, 'g');
/** The target of a link inside of the repository. */
const link = /\]\(((?!https?:|#)[^)#]+)(?:#[^)]*)?\)/g;
/** A source file, named from any folder: `statement.ts`, `write/statement.ts`. */
const sourceFile = /`([\w./-]+\.(?:ts|tsx|sql|proto))`/g;

test('every path and every link in a document exists', () => {
  expect(documents.length).toBeGreaterThan(20);
  const missing = documents.flatMap((document) => {
    const find = (pattern: RegExp, from: string) =>
      [...read(document).matchAll(pattern)].map(([, path = '']) => join(from, path));
    return [...find(topPath, ''), ...find(ingestPath, 'services/ingest'), ...find(link, dirname(document))]
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${document}: ${path}`);
  });
  expect(missing).toEqual([]);
});

test('every source file that a document names exists', () => {
  // Files of other projects.
  const foreign = ['opentelemetry.proto'];
  const known = [...sources, ...glob('{store,proto}/**/*.{sql,proto}'), ...foreign].map((path) => `/${path}`);
  const named = documents.flatMap((document) =>
    [...read(document).matchAll(sourceFile)].map(([, path = '']) => ({ document, path })),
  );
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter(({ path }) => !known.some((one) => one.endsWith(`/${path}`)))).toEqual([]);
});

test('documents are short, and a line of text is not wider than an editor', () => {
  const lengthOf = (path: string) => read(path).split('\n').length;
  expect(lengthOf('README.md')).toBeLessThanOrEqual(151);
  expect(glob('docs/adr/*.md').filter((path) => lengthOf(path) > 61)).toEqual([]);
  // Tables and code cannot be wrapped.
  const textOf = (path: string) => read(path).replaceAll(/^```.*?^```|^(?: {4}|\|)[^\n]*/gms, '');
  const wide = documents.flatMap((path) =>
    textOf(path)
      .split('\n')
      .filter((line) => line.length > 120),
  );
  expect(wide).toEqual([]);
});

test('every heading that a link names exists', () => {
  const slug = (title: string) =>
    title
      .replaceAll(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
  const headings = (path: string) =>
    [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => slug(title));
  const links = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\(((?!https?:)[^)#]*)#([^)]*)\)/g)].map(([, path = '', heading = '']) => ({
      document,
      target: path === '' ? document : join(dirname(document), path),
      heading,
    })),
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(({ target, heading }) => !headings(target).includes(heading))).toEqual([]);
});

test('every section of docs/api.md that is cited exists', () => {
  const sections = new Set([...read('docs/api.md').matchAll(/^##+ (\d+(?:\.\d+)?)[. ]/gm)].map(([, n]) => n));
  expect(sections.size).toBeGreaterThan(20);
  const cited = [...sources, ...documents].flatMap((path) =>
    [
      ...read(path).matchAll(/(?:docs\/)?api\.md (§[\d.]+\d|§\d)(?:(?:,| and| –) §?(\d+(?:\.\d+)?))?/g),
    ].flatMap(([, first = '', second]) =>
      [first.slice(1), second].flatMap((section) => (section === undefined ? [] : [{ path, section }])),
    ),
  );
  expect(cited.length).toBeGreaterThan(40);
  expect(cited.filter(({ section }) => !sections.has(section))).toEqual([]);
});

test('the index of decisions has every record with its title, and every record that is cited exists', () => {
  const records = readdirSync(join(root, 'docs/adr')).filter((name) => /^\d{4}-/.test(name));
  const superseded = /, superseded by \[\d+\]\(\d{4}-.*\.md\)$/;
  const listed = [
    ...read('docs/adr/README.md').matchAll(/^\| (\d+) \| \[(.*?)\]\((\d{4}-[\w-]+\.md)\)(.*) \|$/gm),
  ].map(([, number, title, file, status = '']) => ({ number: Number(number), title, file, status }));
  expect(listed).toEqual(
    records.map((file) => {
      const text = read(`docs/adr/${file}`);
      return {
        number: Number(file.slice(0, 4)),
        title: /^# \d+\. (.*)$/m.exec(text)?.[1],
        file,
        status: /^Superseded by /m.test(text) ? expect.stringMatching(superseded) : '',
      };
    }),
  );
  const numbers = new Set(listed.map(({ number }) => number));
  const cited = [...sources, ...documents, 'CHANGELOG.md'].flatMap((path) =>
    [...read(path).matchAll(/\bADR (\d{1,4})\b/g)].map(([, number]) => ({ path, number: Number(number) })),
  );
  expect(cited.length).toBeGreaterThan(100);
  expect(cited.filter(({ number }) => !numbers.has(number))).toEqual([]);
});
