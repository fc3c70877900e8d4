import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import * as schema from '../store/db/schema.ts';
import { budgets } from './support/run/budgets.ts';
import { slowFiles } from './support/run/slow-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const isTest = (file: string) => file.endsWith('.test.ts');
const sources = globSync(
  '{gen,platform,event,store,operations,services,cli,launcher,harness,lab,sdk,examples,test}/**/*.{ts,tsx,mjs}',
  {
    cwd: root,
    exclude: (name) => /node_modules|examples\/clients|sdk\/typescript\/dist/.test(name),
  },
).filter((file) => !isTest(file));

const services = ['services/ingest', 'services/writer', 'services/dashboard-api'];

const product = ['store', 'event', 'platform', 'gen'];

/**
 * Who may import whom (ARCHITECTURE.md): the files of a folder may import each other, and the folders listed
 * here.
 */
const mayImport: Record<string, readonly string[]> = {
  gen: [],
  // What every service stands on.
  platform: ['gen'],
  // What an event is.
  event: ['platform', 'gen'],
  // What is stored.
  store: ['event', 'platform', 'gen'],
  // Operator commands, run from the command line, the dashboard, or by a writer.
  operations: [...product],
  'services/ingest': [...product],
  'services/writer': [...product, 'operations'],
  'services/dashboard-api': [...product, 'operations'],
  // Runs in browsers. It shows the source of example programs.
  'services/dashboard-web': [
    'type:services/dashboard-api',
    'examples/clients',
    'examples/first-event',
    'sdk/python',
  ],
  'examples/clients': [],
  'examples/first-event': ['sdk/typescript'],
  // It calls the dashboard API with the type of its router. It backs up and restores the embedded Postgres.
  cli: [...product, 'operations', 'launcher', 'type:services/dashboard-api'],
  // A restore applies to a database what changed since.
  launcher: [...product, 'operations'],
  // It checks the OpenAPI documents.
  'harness/check': [
    ...product,
    'harness',
    'launcher',
    'services/ingest',
    'services/dashboard-api',
    'operations',
  ],
  // It finds the queries of the dashboard API from its router.
  'harness/heavy': [...product, 'harness', 'services/dashboard-api'],
  // The fuzzer calls ingest's parser in its own process.
  'harness/fuzz': [...product, 'harness', 'services/ingest'],
  // It is a client of the services: it imports only the type of the dashboard API's router.
  harness: [...product, 'operations', 'launcher', 'cli', 'sdk/typescript', 'type:services/dashboard-api'],
  // It times ingest's readers in its own process.
  'lab/spans': [...product, 'lab', 'services/ingest'],
  // A separate package: benchmarks. Nothing imports it.
  lab: [
    ...product,
    'operations',
    'launcher',
    'cli',
    'harness',
    'harness/heavy',
    'lab/spans',
    'sdk/typescript',
    'type:services/dashboard-api',
  ],
  // A separate package: it imports nothing else of the repository.
  'sdk/typescript': [],
  'sdk/python': [],
  // The front end imports only the type of the router.
  examples: ['sdk/typescript', 'type:services/dashboard-api'],
  // Its model provider also serves the recipes of docs/opentelemetry.md.
  test: [
    ...product,
    'operations',
    'launcher',
    'harness',
    'harness/fuzz',
    'harness/check',
    'harness/heavy',
    'cli',
    'sdk/typescript',
    ...services,
  ],
};

/** Folders of similar files, one per fault or command, which may have any number of files. */
const collections = ['harness/chaos/faults', 'cli/commands'];
const folderFilesMax = 16;

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const imports: readonly Import[] = sources.flatMap((from) => {
  const text = readFileSync(join(root, from), 'utf8');
  const found = [
    ...text.matchAll(/^(import type|import|export)\b[^;]*?from '(\.[^']+)'/gms),
    // Side-effect and dynamic imports.
    ...text.matchAll(/\b(import) ?\(?'(\.[^']+)'/g),
  ];
  return found.map(([, kind, path = '']) => ({
    from,
    to: relative(root, join(root, dirname(from), path)),
    isType: kind === 'import type',
  }));
});

const ownerOf = (file: string) =>
  Object.keys(mayImport).find((folder) => file.startsWith(`${folder}/`)) ?? file;

test('imports go one way', () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(imports.length).toBeGreaterThan(500);
  const wrong = imports.filter(({ from, to, isType }) => {
    const [owner, target] = [ownerOf(from), ownerOf(to)];
    const allowed = mayImport[owner] ?? [];
    return target !== owner && !allowed.includes(target) && !(isType && allowed.includes(`type:${target}`));
  });
  expect(wrong).toEqual([]);
});

test('ARCHITECTURE.md lists who may import whom', () => {
  // Who may import one of these may import what it may import.
  const layers = ['platform', 'event', 'store'].map((layer) => [layer, mayImport[layer] ?? []] as const);
  const rows = Object.entries(mayImport).map(([folder, others]) => {
    const implied = layers.flatMap(([layer, below]) => (others.includes(layer) ? below : []));
    expect(others).toEqual(expect.arrayContaining(implied));
    const named = others.filter((name) => !implied.includes(name)).map((name) => `\`${name}\``);
    return `| \`${folder}\` | ${named.join(', ') || 'nothing'} |\n`;
  });
  const table = `| Folder | may import |\n|---|---|\n${rows.join('')}\n`;
  expect(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')).toContain(table);
});

test('there are no circular imports between files', () => {
  expect(findCircle(imports.map(({ from, to }) => [from, to]))).toBeUndefined();
});

test('there are no circular imports between rooms', () => {
  // A client of the router imports its type, which does not exist at run time.
  const isClient = ({ from, to, isType }: Import) =>
    isType && (mayImport[ownerOf(from)] ?? []).includes(`type:${ownerOf(to)}`);
  const arrows = imports.filter((one) => !isClient(one)).flatMap(({ from, to }) => roomsBetween(from, to));
  expect(arrows.length).toBeGreaterThan(100);
  expect(findCircle(arrows)).toBeUndefined();
});

test(`no folder has more than ${folderFilesMax} source files`, () => {
  const folders = Map.groupBy(sources, dirname);
  const crowded = [...folders].filter(
    ([folder, files]) => files.length > folderFilesMax && !collections.includes(folder),
  );
  expect(crowded.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
});

test('comments are as narrow as the code', () => {
  // The names of a rule that is switched off, and a reason, stand in one line.
  const isWide = (line: string) => /^ *(\/\/|\/?\*)(?! biome-ignore)/.test(line) && [...line].length > 110;
  const all = [...sources, ...globSync('{platform,event,store,services,test}/**/*.test.ts', { cwd: root })];
  const own = all.filter((file) => !file.startsWith('gen/'));
  const wide = own.flatMap((file) => readFileSync(join(root, file), 'utf8').split('\n').filter(isWide));
  expect(wide).toEqual([]);
});

test('admit, body and read of ingest do not import each other', () => {
  const rooms = ['admit', 'body', 'read'];
  const roomOf = (file: string) => rooms.find((room) => file.startsWith(`services/ingest/${room}/`));
  const between = imports.filter(({ from, to }) => {
    const [room, target] = [roomOf(from), roomOf(to)];
    return room !== undefined && target !== undefined && room !== target;
  });
  expect(between).toEqual([]);
});

/** The two folders directly below the common folder of two files, if both files are in such a folder. */
function roomsBetween(from: string, to: string): [string, string][] {
  const [a, b] = [from.split('/'), to.split('/')];
  let shared = 0;
  while (a[shared] === b[shared]) shared++;
  if (shared >= a.length - 1 || shared >= b.length - 1) return [];
  return [[a.slice(0, shared + 1).join('/'), b.slice(0, shared + 1).join('/')]];
}

/** @returns one circle, whose first and last members are equal; undefined when there is none. */
function findCircle(arrows: readonly (readonly [string, string])[]): string[] | undefined {
  const targets = Map.groupBy(arrows, ([from]) => from);
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const [, to] of targets.get(node) ?? []) {
      const circle = visit(to, [...path, node]);
      if (circle !== undefined) return circle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of targets.keys()) {
    const circle = visit(node, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

/** On a Citus cluster one statement would reach every node (ADR 35), or is refused (ADR 40). */
const transactionsOnCitus = ['store/write/cluster-store.ts', 'store/write/statistics/cluster-fold.ts'];

test('no service, and no file that one imports, holds a client transaction open, except on Citus', () => {
  const running = Map.groupBy(
    imports.filter(({ isType }) => !isType),
    ({ from }) => from,
  );
  const reached = new Set(
    sources.filter((file) => services.some((service) => file.startsWith(`${service}/`))),
  );
  for (const file of reached) for (const { to } of running.get(file) ?? []) reached.add(to);
  expect(reached.size).toBeGreaterThan(200);
  const holding = [...reached].filter((file) =>
    /\.(transaction|begin|savepoint|reserve)\(|\binBoundedTransaction\(/.test(
      readFileSync(join(root, file), 'utf8'),
    ),
  );
  expect(holding.toSorted()).toEqual(transactionsOnCitus);
});

test('only entry files use the process object', () => {
  const touching = sources
    .filter(
      (file) => /^(platform|event|store|operations|services)\//.test(file) && !file.endsWith('/main.ts'),
    )
    .filter((file) =>
      /\bprocess\.(env|exit|on|argv|stdout|stderr)\b/.test(readFileSync(join(root, file), 'utf8')),
    );
  expect(touching).toEqual([]);
});

test('SQL names tables and columns through the Drizzle schema', () => {
  const tables = Object.values(schema).filter((one) => is(one, PgTable));
  expect(tables.length).toBeGreaterThan(10);
  const tableNames = tables.map((table) => getTableName(table));
  const columnNames = tables.flatMap((table) =>
    Object.values(getTableColumns(table)).map(({ name }) => name),
  );
  const tableName = new RegExp(`\\b(from|into|update|join|table)\\s+"?(${tableNames.join('|')})\\b`, 'i');
  // Names of a single word, such as `name`, may also be aliases.
  const columnName = new RegExp(`\\b(${columnNames.filter((name) => name.includes('_')).join('|')})\\b`);
  const named = sources
    .filter(
      (file) =>
        /^(platform|event|store|operations|services|cli|launcher)\//.test(file) &&
        !ownSql.some((path) => file.startsWith(path)),
    )
    .flatMap((file) => {
      const code = readFileSync(join(root, file), 'utf8').replaceAll(comments, '');
      const found = [tableName.exec(code), ...taggedTemplates(code).map((text) => columnName.exec(text))];
      return found.flatMap((match) => (match === null ? [] : `${file}: ${match[0]}`));
    });
  expect(named).toEqual([]);
});

/** The schema itself, and the code that reads and writes Drizzle's migration table. */
const ownSql = ['store/db/schema/', 'store/migrate/'];

const comments = /\/\*.*?\*\/|^\s*\/\/[^\n]*$/gms;

/** The text of a file's tagged templates, without interpolated values. */
function taggedTemplates(code: string): string[] {
  return [...code.matchAll(/\w(?:<[^`;]*>)?`/g)].map((start) => {
    let text = '';
    let depth = 0;
    for (let i = start.index + start[0].length; i < code.length; i++) {
      if (code[i] === '`' && depth === 0) break;
      if (code[i] === '{' && (depth > 0 || code[i - 1] === '$')) depth++;
      else if (code[i] === '}' && depth > 0) depth--;
      else if (depth === 0) text += code[i];
    }
    return text;
  });
}

test('every test file that the lists of slow files and of budgets name exists', () => {
  const named = [...Object.keys(slowFiles), ...Object.keys(budgets)];
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
