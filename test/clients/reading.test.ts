import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  buildOnce,
  buildTimeoutMs,
  PackagesUnreachableError,
  programEnvironment,
} from '../../harness/tools/build-cache.ts';
import { runShell } from '../../harness/tools/shell.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { issueApiKey } from '../../store/accounts/api-keys.ts';
import { addEvents, dashboardPepper, openDashboard, type TestDashboard } from '../support/dashboard.ts';

/** Programs of others that read a space with a read key. */

let dashboard: TestDashboard;
let env: Record<string, string | undefined>;
let ids: string[];
beforeAll(async () => {
  dashboard = await openDashboard();
  const { spaceId } = await dashboard.addSpace();
  const text = JSON.stringify({ properties: { llm: { model: 'gpt-of-text', big: 1 } } });
  const startTimeMs = Date.UTC(2026, 0, 2);
  ids = await addEvents(dashboard.sql, spaceId, [
    { name: 'gpt', state: 'error', text, startTimeMs: startTimeMs + 1 },
    { name: 'other', startTimeMs, inputTokens: 7 },
    { name: 'lookup', type: 'tool', state: 'error', userId: 'ada', startTimeMs: startTimeMs - 86_400_000 },
  ]);
  const key = { name: 'k', pepper: dashboardPepper, scope: 'events' } as const;
  const { apiKey } = await issueApiKey(dashboard.database, spaceId, key);
  const notes = await issueApiKey(dashboard.database, spaceId, { ...key, scope: 'annotation' });
  env = {
    ...programEnvironment,
    WEIR_DASHBOARD_URL: dashboard.url,
    WEIR_READ_KEY: apiKey,
    WEIR_NOTE_KEY: notes.apiKey,
    WEIR_SPACE: spaceId,
  };
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Installs packages once. @returns the directory; undefined when they cannot be downloaded. */
async function install(name: string, hash: string, commands: string[]): Promise<string | undefined> {
  return buildOnce({ name, hash, write: () => {}, folder: '.', commands }).catch((error) => {
    if (!(error instanceof PackagesUnreachableError)) throw error;
    console.warn(`${name} is skipped: its packages cannot be downloaded\n${error.message}`);
    return undefined;
  });
}

const inspector = '@modelcontextprotocol/inspector@2.12.0';

test('the official MCP inspector lists the tools and calls one', {
  timeout: buildTimeoutMs + 60_000,
  skip: findMissingTool(['npm']) !== undefined,
}, async (context) => {
  const commands = ['npm init --yes', `npm install --no-audit --no-fund --ignore-scripts ${inspector}`];
  const directory = await install('mcp-inspector', '0000000000000002', commands);
  if (directory === undefined) return context.skip();
  const inspect = async (rest: string) => {
    const call = `npx mcp-inspector --cli "$WEIR_DASHBOARD_URL/mcp" --transport http --header "Authorization: Bearer $WEIR_READ_KEY" ${rest}`;
    const result = await runShell(call, { cwd: directory, env, timeoutMs: 60_000 });
    expect(result).toMatchObject({ exitCode: 0 });
    return JSON.parse(result.stdout);
  };
  const { tools } = await inspect('--method tools/list');
  expect(tools.map(({ name }: { name: string }) => name)).toContain('search_events');
  const found = await inspect('--method tools/call --tool-name search_events --tool-arg name=gpt');
  expect(found.structuredContent.data.events).toMatchObject([{ id: ids[0], name: 'gpt' }]);
});

/** The fenced blocks of docs/read-api.md in a language, in order. */
function recipes(language: string): string[] {
  const text = readFileSync(fileURLToPath(new URL('../../docs/read-api.md', import.meta.url)), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, code = '']) => code,
  );
}

const missing = findMissingTool(['curl', 'python3']);

test('the recipes of docs/read-api.md with curl, Python, DuckDB and pandas', {
  timeout: buildTimeoutMs + 120_000,
  skip: missing !== undefined,
}, async (context) => {
  const commands = [
    'python3 -m venv .venv',
    '.venv/bin/pip install --quiet duckdb==2.0.0 pandas==3.1.1 pyarrow==26.0.1',
  ];
  const packages = await install('read-recipes', '0000000000000002', commands);
  if (packages === undefined) return context.skip();
  const cwd = mkdtempSync(join(tmpdir(), 'weir-recipes-'));
  try {
    const run = async (command: string) => {
      const result = await runShell(command, { cwd, env, timeoutMs: 120_000 });
      expect(result, `${command}\n${result.stderr}`).toMatchObject({ exitCode: 0 });
      return result.stdout;
    };
    const [usage = '', list = '', noted = '', exported = ''] = recipes('sh');
    expect(JSON.parse(await run(usage)).result.data).toMatchObject({ billingState: 'active' });
    expect(JSON.parse(await run(list)).result.data.events).toMatchObject([{ id: ids[2], name: 'lookup' }]);
    expect(JSON.parse(await run(noted)).result.data).toEqual({
      ids: ['5f0c7a52-8f0e-4b8e-9d57-6f1f0f5f7b1c'],
    });
    await run(exported);
    const programs = recipes('python');
    const python = (program = '') => {
      writeFileSync(join(cwd, 'recipe.py'), program);
      return run(`${packages}/.venv/bin/python recipe.py`);
    };
    expect(await python(programs[0])).toMatch(/^gpt None .*"model":"gpt-of-text".*\nlookup None \{\}\n$/);
    expect(await python(programs[1])).toMatch(/gpt .* 1 .*10\.0 .*gpt-of-text/);
    const shown = await python(programs[2]);
    expect(shown).toContain('2026-01-01 lookup');
    expect(shown).toContain("{'properties': {'llm': {'model': 'gpt-of-text', 'big': 1}}}");
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});
