import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { buildProgram } from '../cli/program.ts';
import { type ErrorId, errorTable, IngestError } from '../event/errors.ts';
import { eventSchemas, type JsonSchema } from '../event/schema.ts';
import { webBudgets } from '../harness/check/web-size.ts';
import { configSchema, parseConfig } from '../platform/config.ts';
import { bodyBytesMax, eventsPerBatchMax, jsonDepthMax, otlpBodyBytesMax } from '../platform/limits.ts';
import { firstStream, secondStream } from '../platform/queue/settings.ts';
import { installationConnectionsMax } from '../services/dashboard-api/installation/limits.ts';
import { accountConnectionsMax, dashboardConnectionsMax } from '../services/dashboard-api/limits.ts';
import { spansMax } from '../services/ingest/otlp/limits.ts';
import { toExportError } from '../services/ingest/otlp/respond/export-error.ts';

/** Tables and figures of the documents, compared with the code. */

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
/** A document with each run of white space as one space: lines are wrapped. */
const readProse = (path: string) => read(path).replaceAll(/\s+/g, ' ');
const errorIds = Object.keys(errorTable) as ErrorId[];

/** The cells of each row of the table whose header starts with this text. */
function tableRows(document: string, header: string): string[][] {
  const [, after = ''] = read(document).split(`\n${header}`);
  const lines = after.split('\n').slice(2);
  const end = lines.findIndex((line) => !line.trimStart().startsWith('|'));
  const cellsOf = (line: string) =>
    line
      .trim()
      .slice(1, -1)
      .split(/(?<!\\)\|/);
  return lines.slice(0, end).map((line) => cellsOf(line).map((cell) => cell.trim()));
}

const codeSpans = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);

/** Source files, without tests, that create an error with this id. */
function findThrowers(id: ErrorId): string[] {
  const creates = new RegExp(`(?:new IngestError|extends IngestError[^]*?super)\\(\\s*'${id}'`);
  return globSync('{platform,event,store,services/ingest}/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts') && !path.includes('/respond/'))
    .filter((path) => creates.test(read(path)))
    .sort();
}

test('ARCHITECTURE lists the status of every error and the files that throw it', () => {
  const rows = tableRows('ARCHITECTURE.md', '| `error.id` | Status | Thrown in |');
  expect(rows.map(([id = '']) => codeSpans(id)[0]).sort()).toEqual([...errorIds].sort());
  for (const [name = '', status, where = ''] of rows) {
    const id = errorIds.find((one) => name === `\`${one}\``) ?? 'not_found';
    const files = codeSpans(where)
      .filter((span) => span.endsWith('.ts'))
      .map((path) => (/^(platform|event|store)\//.test(path) ? path : `services/ingest/${path}`));
    // For batch_too_large the table also names the callers.
    const throwers = findThrowers(id);
    expect({ id, status, files: files.filter((file) => throwers.includes(file)).sort() }).toEqual({
      id,
      status: String(errorTable[id].status),
      files: throwers,
    });
    if (id !== 'batch_too_large') expect({ id, files: files.sort() }).toEqual({ id, files: throwers });
  }
});

test('ARCHITECTURE lists the rooms of ingest', () => {
  const rooms = readdirSync(join(root, 'services/ingest'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `\`${name}/\``);
  const listed = tableRows('ARCHITECTURE.md', '| Room of `services/ingest` | Concern |').map(
    ([room]) => room,
  );
  expect(listed.sort()).toEqual(rooms.sort());
});

test('docs/api.md has the errors, codes and limits of the code', () => {
  const rows = tableRows('docs/api.md', '| `error.id` | Status | Title | Condition |');
  expect(rows).toEqual(
    errorIds.map((id) => {
      const { status, title, condition } = errorTable[id];
      return [`\`${id}\``, String(status), title, condition];
    }),
  );
  const upper = (code: string) => code.replaceAll(/(?<!^)([A-Z])/g, '_$1').toUpperCase();
  for (const [ids = '', code] of tableRows('docs/api.md', '| `error.id` | Code |')) {
    for (const id of codeSpans(ids)) expect(upper(errorTable[id as ErrorId].rpcCode)).toBe(code);
  }
  for (const [ids = '', http = ''] of tableRows('docs/api.md', '| `error.id` | HTTP | gRPC |')) {
    for (const id of codeSpans(ids)) {
      expect(toExportError(new IngestError(id as ErrorId, '')).status).toBe(Number.parseInt(http, 10));
    }
  }
  const text = readProse('docs/api.md');
  expect(text).toContain(`up to ${eventsPerBatchMax} events`);
  expect(text).toContain(`| Body | ${bodyBytesMax / 1024 ** 2} MiB |`);
  expect(text).toContain(`deeper than ${jsonDepthMax} levels`);
  expect(text).toContain(
    `${otlpBodyBytesMax / 1024 ** 2} MiB before and after decompression, ${spansMax.toLocaleString('en')} spans`,
  );
});

test('the README says how to handle every error of the ingest API', () => {
  const listed = tableRows('README.md', '| Status | `error.id` | What to do |').flatMap(
    ([status, ids = '']) => codeSpans(ids).map((id) => [id, Number(status)]),
  );
  // In the sentence below the table, or only used by RPCs.
  const elsewhere: ErrorId[] = ['not_found', 'method_not_allowed', 'unsupported_media_type'];
  const expected = errorIds.filter((id) => !elsewhere.includes(id)).map((id) => [id, errorTable[id].status]);
  expect(listed.sort()).toEqual(expected.sort());
});

test('docs/cluster.md has the connections of the code, and the example is a valid configuration', () => {
  const connections = dashboardConnectionsMax + accountConnectionsMax + installationConnectionsMax;
  const { WRITER_CONNECTIONS } = parseConfig({});
  expect(readProse('docs/cluster.md')).toContain(
    `a dashboard-api up to ${connections}, a writer \`WRITER_CONNECTIONS\` (${WRITER_CONNECTIONS})`,
  );
  expect(readProse('docs/cluster.md')).toContain(`of a writer; ${connections} of the dashboard API.`);
  const variables = read('examples/cluster/weir.env')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => line.split(/=(.*)/s).slice(0, 2));
  expect(Object.keys(configSchema.shape)).toEqual(expect.arrayContaining(variables.map(([name]) => name)));
  expect(() => parseConfig(Object.fromEntries(variables))).not.toThrow();
});

test('docs/cluster.md permits exactly the subjects that the services use', () => {
  const cluster = readProse('docs/cluster.md');
  const [, publish = '', subscribe = ''] =
    /publishes to (.*?), and subscribes to (.*?)\. /.exec(cluster) ?? [];
  const covers = (permitted: string, subject: string) =>
    codeSpans(permitted).some(
      (one) => one === subject || (one.endsWith('>') && subject.startsWith(one.slice(0, -1))),
    );
  const subjects = globSync('{platform,store,operations,services}/**/*.ts', { cwd: root })
    .map(read)
    .flatMap((text) =>
      [...text.matchAll(/^const subject = '(weir\.\w+)'/gm)].map(([, subject = '']) => subject),
    );
  expect(subjects.length).toBeGreaterThan(1);
  const published = [...subjects, firstStream.subject, secondStream.subject, '$JS.API.', '$JS.ACK.'];
  expect(published.filter((subject) => !covers(publish, subject))).toEqual([]);
  expect([...subjects, '_INBOX.'].filter((subject) => !covers(subscribe, subject))).toEqual([]);
});

test('docs/operating.md lists exactly the metrics that the services have', () => {
  const names = globSync('{platform,store,services}/**/*metrics.ts', { cwd: root })
    .map(read)
    .flatMap((text) => [...text.matchAll(/'((?:weir|process)_\w+)'/g)].map(([, name = '']) => name));
  expect(names.length).toBeGreaterThan(20);
  const listed = tableRows('docs/operating.md', '| Metric | Labels | From |').flatMap(([cell = '']) =>
    codeSpans(cell),
  );
  expect(listed.toSorted()).toEqual(names.toSorted());
});

/** Code of a document: spans, and lines of blocks without their comments. */
const codeOf = (path: string) => {
  const block = /```\w*\n([\s\S]*?)```|^ {4}(.*)$/gm;
  const text = read(path);
  const lines = [...text.matchAll(block)].flatMap(([, fenced, indented = '']) =>
    (fenced ?? indented).replaceAll('\\\n', ' ').split('\n'),
  );
  return [...lines.map((line) => line.replace(/\s#.*/, '')), ...codeSpans(text.replaceAll(block, ''))];
};
const documents = globSync('{README.md,docs/**/*.md}', { cwd: root });

test('every command and option of weir in the documents exists', () => {
  const { stdin, stdout, stderr } = process;
  const program = buildProgram({ env: {}, directory: root, stdin, stdout, stderr });
  /** The words of a command line that are no commands or options. */
  const findUnknown = (command: Command, words: readonly string[]): string[] => {
    const [first = '', ...rest] = words;
    const next = command.commands.find((one) => one.name() === first);
    if (next !== undefined) return findUnknown(next, rest);
    const options = words.flatMap((word) => /^--[a-z][\w-]*/.exec(word)?.[0] ?? []);
    const names = ['--help', ...command.options.map(({ long }) => long)];
    const isCommand = command.commands.length === 0 || first === '' || first.startsWith('--');
    return [...(isCommand ? [] : [first]), ...options.filter((option) => !names.includes(option))];
  };
  const lines = documents.flatMap((path) =>
    codeOf(path).flatMap((code) =>
      [...code.matchAll(/(?:^|[;(] ?|weir -- )\$?weir ([a-z-][^|;&)]*)|weir -- ([a-z][^|;&)]*)/g)].map(
        ([line, own, npm]) => ({ path, line, words: (own ?? npm ?? '').trim().split(/\s+/) }),
      ),
    ),
  );
  expect(lines.length).toBeGreaterThan(100);
  const wrong = lines
    .map(({ path, line, words }) => ({ path, line, unknown: findUnknown(program, words) }))
    .filter(({ unknown }) => unknown.length > 0);
  expect(wrong).toEqual([]);
});

test('docs/dashboard.md has the budgets of the pages', () => {
  const [first, styles, all] = [webBudgets.firstScripts, webBudgets.firstStyles, webBudgets.all].map(
    (bytes) => `${bytes / 1_000} kB`,
  );
  expect(readProse('docs/dashboard.md')).toContain(
    `${first} of scripts and ${styles} of styles before the first page, ${all} in all`,
  );
});

test('every script of npm in the documents exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = [...documents, 'CONTRIBUTING.md'].flatMap((path) =>
    [...read(path).matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, script = '']) => script),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((script) => !(script in scripts))).toEqual([]);
});

test('docs/api.md §2 and the type of the SDK name every field of an event', () => {
  const namesOf = ({ properties = {} }: JsonSchema): string[] =>
    Object.entries(properties).flatMap(([name, schema]) => [name, ...namesOf(schema)]);
  const { llm, tool } = eventSchemas('weir');
  const names = new Set([...namesOf(llm), ...namesOf(tool)]);
  expect(names).toContain('cacheReadTokens');
  const [, section = ''] = /^## 2\.(.*?)^## 3\./ms.exec(read('docs/api.md')) ?? [];
  const described = new Set(codeSpans(section).flatMap((span) => span.match(/\w+/g) ?? []));
  expect([...names].filter((name) => !described.has(name))).toEqual([]);
  const typed = new Set(read('sdk/typescript/src/event/event.ts').match(/\w+(?=\??:)/g));
  expect([...names].filter((name) => !typed.has(name))).toEqual([]);
});
