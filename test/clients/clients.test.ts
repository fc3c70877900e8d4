import { beforeAll, describe, expect, test } from 'vitest';
import {
  buildTimeoutMs,
  PackagesUnreachableError,
  programEnvironment,
} from '../../harness/tools/build-cache.ts';
import { runShell, type ShellResult } from '../../harness/tools/shell.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { loseFirstResponse } from '../support/lost-response.ts';
import { type BuiltClient, buildClient } from '../support/tools/client-build.ts';
import { runPage } from '../support/tools/client-page.ts';
import { clientPrograms, findMissingForClient } from '../support/tools/client-programs.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { untilDrained } from '../support/wait.ts';

const { pipeline } = usePipeline();

/** The events that every client sends, without ids and times. */
const sent = [
  {
    type: 'llm',
    durationMs: 1250,
    status: { state: 'ok' },
    instrumentation: { vendor: 'weir', source: 'openai', sourcePackage: 'my-agent' },
    context: { threadId: 'thread-1', userId: 'user-1' },
    additionalProperties: { plan: 'pro', seats: 3 },
    properties: {
      llm: {
        model: 'gpt-4o',
        input: { system: 'Be brief.', prompt: 'How warm is it in Bern?' },
        output: { mode: 'text', response: 'It is 21 °C.' },
        usage: { inputTokens: 12, outputTokens: 7, totalTokens: 19 },
      },
    },
  },
  {
    type: 'tool',
    durationMs: 80,
    status: { state: 'error', error: { code: 'timeout', httpStatus: 504, message: 'No answer.' } },
    instrumentation: { vendor: 'weir', source: 'weather', sourcePackage: 'my-agent' },
    context: { threadId: 'thread-1' },
    additionalProperties: {},
    properties: { tool: { name: 'get_weather', input: { city: 'Bern', days: [1, 2] } } },
  },
];

/** Go and Cargo may compile again when they run a program, which takes a minute on a busy machine. */
const runTimeoutMs = 180_000;

for (const program of clientPrograms) {
  const missing = findMissingForClient(program);
  if (missing !== undefined) {
    const title = `${program.name} is skipped: ${missing}`;
    // The reporter prints only the number of skipped tests.
    console.warn(title);
    test.skip(title, () => {});
    continue;
  }
  describe(program.name, () => {
    let client: BuiltClient | undefined;
    beforeAll(async () => {
      client = await buildClient(program).catch((error) => {
        if (!(error instanceof PackagesUnreachableError)) throw error;
        console.warn(`${program.name} is skipped: its packages cannot be downloaded\n${error.message}`);
        return undefined;
      });
    }, buildTimeoutMs + 30_000);

    async function run(url: string, apiKey: string): Promise<ShellResult> {
      if (client === undefined) throw new Error('not built');
      const env = { ...programEnvironment, WEIR_URL: url, WEIR_API_KEY: apiKey };
      if (program.name === 'browser') return runPage(client, env);
      return runShell(client.command, { cwd: client.directory, env, timeoutMs: runTimeoutMs });
    }

    test(
      'its events are stored like those of all other clients',
      async (context) => {
        context.skip(client === undefined, 'its packages cannot be downloaded');
        const { spaceId, apiKey } = await pipeline.createTenant();
        expect(await run(pipeline.url, apiKey)).toMatchObject({
          exitCode: 0,
          stdout: expect.stringContaining('Queued 2 events.'),
        });
        expect(await readStored(spaceId)).toEqual(sent);
      },
      runTimeoutMs,
    );

    test(
      'it reports an invalid key and does not retry',
      async (context) => {
        context.skip(client === undefined, 'its packages cannot be downloaded');
        const { exitCode, stderr } = await run(pipeline.url, 'weir_unknown');
        expect(stderr).toContain('unauthorized');
        expect(stderr).toContain('Do not retry');
        expect(stderr).not.toContain('Trying again');
        expect(exitCode).toBeGreaterThan(0);
      },
      runTimeoutMs,
    );

    test(
      'it retries when a response is lost, and nothing is stored twice',
      async (context) => {
        context.skip(client === undefined, 'its packages cannot be downloaded');
        const { spaceId, apiKey } = await pipeline.createTenant();
        await using proxy = await loseFirstResponse(pipeline.url);
        const result = await run(proxy.url, apiKey);
        expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Queued 2 events.') });
        expect(proxy.lost()).toBe(1);
        expect(result.stderr).toContain('Trying again');
        expect(await readStored(spaceId)).toEqual(sent);
      },
      runTimeoutMs,
    );
  });
}

/** The stored events of a space ordered by start time, without ids and times. */
async function readStored(spaceId: string): Promise<unknown[]> {
  await untilDrained(pipeline);
  const rows = await pipeline.sql<{ segmentId: string; segmentIndex: number }[]>`
    SELECT segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events
    WHERE space_id = ${spaceId} ORDER BY start_time_ms`;
  const texts = await readEventTexts(pipeline.database, spaceId, rows);
  return texts.map((text) => {
    const { id, traceId, startTimeMs, endTimeMs, ...event } = JSON.parse(text ?? 'null');
    expect([typeof id, typeof traceId]).toEqual(['string', 'string']);
    expect(endTimeMs - startTimeMs).toBeCloseTo(event.durationMs, 2);
    return event;
  });
}
