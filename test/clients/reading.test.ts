import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueApiKey } from '../../lib/accounts/api-keys.ts';
import { addEvents, dashboardPepper, openDashboard, type TestDashboard } from '../support/dashboard.ts';
import {
  buildOnce,
  buildTimeoutMs,
  PackagesUnreachableError,
  programEnvironment,
} from '../support/tools/build-cache.ts';
import { runShell } from '../support/tools/shell.ts';
import { findMissingTool } from '../support/tools/toolchain.ts';

/** Programs of others that read a space with a read key. */

let dashboard: TestDashboard;
let env: Record<string, string | undefined>;
let ids: string[];
beforeAll(async () => {
  dashboard = await openDashboard();
  const { spaceId } = await dashboard.addSpace();
  ids = await addEvents(dashboard.sql, spaceId, [
    { name: 'gpt', state: 'error', text: '{"a":1}' },
    { name: 'other' },
  ]);
  const key = { name: 'k', pepper: dashboardPepper, scope: 'events' } as const;
  const { apiKey } = await issueApiKey(dashboard.database, spaceId, key);
  env = { ...programEnvironment, WEIR_URL: dashboard.url, WEIR_READ_KEY: apiKey, WEIR_SPACE: spaceId };
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
    const call = `npx mcp-inspector --cli "$WEIR_URL/mcp" --transport http --header "Authorization: Bearer $WEIR_READ_KEY" ${rest}`;
    const result = await runShell(call, { cwd: directory, env, timeoutMs: 60_000 });
    expect(result).toMatchObject({ exitCode: 0 });
    return JSON.parse(result.stdout);
  };
  const { tools } = await inspect('--method tools/list');
  expect(tools.map(({ name }: { name: string }) => name)).toContain('search_events');
  const found = await inspect('--method tools/call --tool-name search_events --tool-arg state=error');
  expect(found.structuredContent.data.events).toMatchObject([{ id: ids[0], name: 'gpt' }]);
});
