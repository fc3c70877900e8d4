import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runShell } from '../../harness/tools/shell.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { pythonSdk, pythonSdkEnvironment } from '../support/tools/python-sdk.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, untilDrained } from '../support/wait.ts';

const { pipeline } = usePipeline();
const missing = findMissingTool(['python3']);
if (missing !== undefined) console.warn(`The ends of Python processes are not tested: ${missing}`);

/** Of these ends no Python code can deliver: only the spool keeps the events. */
const killed = ['sigterm', 'sigkill', 'os_exit'];
/** The events of each end, with `COUNT` 200. */
const ends: Record<string, number> = {
  normal: 200,
  exception: 200,
  fork: 600,
  fork_while_recording: 1200,
  multiprocessing_fork: 600,
  multiprocessing_spawn: 600,
  pool: 400,
};

// It has no dependencies: these need no package index.
describe.skipIf(missing)('whatever ends a process, Weir stores each recorded event once', () => {
  let spool: string;
  beforeAll(() => {
    spool = mkdtempSync(join(tmpdir(), 'weir-test-python-'));
  });
  afterAll(() => rmSync(spool, { recursive: true }));

  const end = (how: string, apiKey: string, variables = {}) =>
    runShell(`python3 -W ignore::DeprecationWarning tests/programs/ends.py ${how}`, {
      cwd: pythonSdk,
      env: {
        ...pythonSdkEnvironment,
        WEIR_URL: pipeline.url,
        WEIR_API_KEY: apiKey,
        COUNT: '200',
        ...variables,
      },
      timeoutMs: 120_000,
    });

  test.each(Object.entries(ends))('without a spool: %s', async (how, count) => {
    const { spaceId, apiKey } = await pipeline.createTenant();
    await end(how, apiKey);
    await untilDrained(pipeline);
    expect(await countRows(pipeline, spaceId)).toBe(count);
  });

  test.each([...Object.entries(ends), ...killed.map((how) => [how, 200] as const)])(
    'with a spool, while Weir is away: %s',
    async (how, count) => {
      const { spaceId, apiKey } = await pipeline.createTenant();
      const WEIR_SPOOL = join(spool, how);
      await end(how, apiKey, { WEIR_SPOOL, WEIR_URL: 'http://127.0.0.1:9' });
      expect(await countRows(pipeline, spaceId)).toBe(0);
      await end('deliver', apiKey, { WEIR_SPOOL });
      await untilDrained(pipeline);
      expect(await countRows(pipeline, spaceId)).toBe(count);
    },
  );
});
