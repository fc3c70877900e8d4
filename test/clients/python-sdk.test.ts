import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildTimeoutMs, PackagesUnreachableError } from '../../harness/tools/build-cache.ts';
import { runShell } from '../../harness/tools/shell.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { googleFetch } from '../../sdk/typescript/src/google.ts';
import { Weir } from '../../sdk/typescript/src/index.ts';
import { ollamaFetch } from '../../sdk/typescript/src/ollama.ts';
import { type Provider, startProvider } from '../../sdk/typescript/test/support/provider.ts';
import { readStored } from '../support/stored-events.ts';
import {
  findPython,
  installPytest,
  installPythonSdk,
  pythonSdk,
  pythonSdkEnvironment,
} from '../support/tools/python-sdk.ts';
import { usePipeline } from '../support/use-pipeline.ts';

const { pipeline } = usePipeline();
const missing = findMissingTool(['python3']);
if (missing !== undefined) console.warn(`The Python SDK is not tested: ${missing}`);

// The checks and the suites of the clients take minutes, mostly on one core, and share nothing.
vi.setConfig({ maxConcurrency: 2 });

describe.skipIf(missing)('with its packages', () => {
  let python: string | undefined;
  let provider: Provider;
  beforeAll(async () => {
    provider = await startProvider();
    python = await installPythonSdk().catch(explainUnreachable);
  }, buildTimeoutMs + 30_000);
  afterAll(() => provider[Symbol.asyncDispose]());

  const run = (command: string, interpreter = python) =>
    runShell(`'${interpreter}' -m ${command}`, {
      cwd: pythonSdk,
      env: { ...pythonSdkEnvironment, PROVIDER_URL: provider.url },
      timeoutMs: 600_000,
    });

  test.concurrent.for([
    ['its own tests pass', 'pytest -q --durations=5 --ignore=tests/test_leak.py'],
    // More than a minute of CPU time.
    ['a hundred thousand calls leak nothing', 'pytest -q tests/test_leak.py'],
    ['its types are strict', 'mypy'],
    ['its code is checked', 'ruff check src tests'],
    ['its code is formatted', 'ruff format --check src tests'],
  ] as const)('%s', { timeout: 620_000 }, async ([_, command], context) => {
    context.skip(python === undefined, 'its packages cannot be downloaded');
    const { exitCode, stdout, stderr } = await run(command);
    expect(exitCode, `${stdout}${stderr}`).toBe(0);
  });

  test.concurrent.for(['3.10', '3.11', '3.12', '3.13', '3.14'])(
    'its own tests pass on Python %s without the clients',
    { timeout: buildTimeoutMs + 620_000 },
    async (version, context) => {
      const other = findPython(version);
      if (other === undefined) return context.skip(`Python ${version} is not installed`);
      const interpreter = await installPytest(other).catch(explainUnreachable);
      context.skip(interpreter === undefined, 'pytest cannot be downloaded');
      const command = 'pytest -q -p no:cacheprovider --ignore=tests/test_leak.py';
      const { exitCode, stdout, stderr } = await run(command, interpreter);
      expect(exitCode, `${stdout}${stderr}`).toBe(0);
    },
  );

  test.concurrent.for(suites)(
    'the tests of %s have the same outcomes with every client observed',
    {
      timeout: buildTimeoutMs,
    },
    async ([suite, files, options], context) => {
      context.skip(python === undefined, 'its packages cannot be downloaded');
      const directory = mkdtempSync(join(tmpdir(), 'weir-test-python-'));
      try {
        const [name] = suite.split('==');
        const source = await runShell(
          `'${python}' -m pip download --quiet --no-deps --no-binary ${name} ${suite} && tar xzf *.tar.gz --strip-components=1`,
          { cwd: directory, env: pythonSdkEnvironment, timeoutMs: 120_000 },
        );
        expect(source.exitCode, source.stderr).toBe(0);
        const run = async (variables: Record<string, string>) => {
          const outcomes = join(directory, 'outcomes.json');
          const path = ['src', 'tests', 'tests/programs'].map((folder) => join(pythonSdk, folder));
          const { stdout, stderr } = await runShell(
            `'${python}' -m pytest -q -p no:cacheprovider -p observed_suite ${options} -o addopts= ${files}`,
            {
              cwd: directory,
              env: {
                ...pythonSdkEnvironment,
                PYTHONPATH: [...path, '.'].join(':'),
                OUTCOMES: outcomes,
                ...variables,
              },
              timeoutMs: 280_000,
            },
          );
          expect(existsSync(outcomes), `${stdout}${stderr}`).toBe(true);
          return JSON.parse(readFileSync(outcomes, 'utf8'));
        };
        const [bare, observed] = [await run({}), await run({ OBSERVE: '1' })];
        expect(Object.keys(bare.outcomes).length).toBeGreaterThan(100);
        expect(observed.outcomes).toEqual(bare.outcomes);
        expect(observed.events).toBeGreaterThan(10);
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
  );

  test('the same answers become the same events as those of the TypeScript SDK', {
    timeout: 120_000,
  }, async (context) => {
    context.skip(python === undefined, 'its packages cannot be downloaded');
    const requests = composeRequests(provider.url);
    const [ours, theirs] = [await pipeline.createTenant(), await pipeline.createTenant()];
    const weir = new Weir({ url: pipeline.url, apiKey: ours.apiKey, flushOnExit: false });
    for (const { url, body } of requests) await send(weir, url, body);
    await weir.shutdown();
    const directory = mkdtempSync(join(tmpdir(), 'weir-test-python-'));
    writeFileSync(join(directory, 'requests.json'), JSON.stringify(requests));
    const { exitCode, stderr } = await runShell(
      `'${python}' tests/programs/send_requests.py '${join(directory, 'requests.json')}'`,
      {
        cwd: pythonSdk,
        env: { ...pythonSdkEnvironment, WEIR_URL: pipeline.url, WEIR_API_KEY: theirs.apiKey },
        timeoutMs: 100_000,
      },
    );
    rmSync(directory, { recursive: true });
    expect(exitCode, stderr).toBe(0);
    const [expected, events] = [
      await readStored(pipeline, ours.spaceId),
      await readStored(pipeline, theirs.spaceId),
    ];
    expect(expected).toHaveLength(requests.length);
    expect(events.map(comparable)).toEqual(expected.map(comparable));
  });
});

function explainUnreachable(error: unknown): undefined {
  if (!(error instanceof PackagesUnreachableError)) throw error;
  console.warn(`Tests of the Python SDK are skipped: its packages cannot be downloaded\n${error.message}`);
}

/** Of the suites of the providers' clients those that send requests: minutes, not an hour. */
const suites: [suite: string, files: string, options: string][] = [
  ['openai==3.57.0', 'tests/test_client.py tests/test_response.py tests/test_streaming.py', ''],
  [
    'anthropic==2.14.0',
    'tests/test_client.py tests/test_response.py tests/test_streaming.py tests/lib/test_client_copy.py',
    '-p tests._alias_httpx',
  ],
];

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Ticket 9007199254740993123' },
];
const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { maximum: 1e21 } } }];
const kinds = [
  'text',
  'tools',
  'json',
  'bytes',
  'crlf',
  'error-in-stream',
  'no-end-mark',
  'bad-request',
  'unavailable',
];

/** Requests to each API, whole and as a stream. */
function composeRequests(provider: string): { url: string; body: string }[] {
  const root = provider.replace('/v1', '');
  return kinds.flatMap((kind) =>
    [false, true].flatMap((stream) => {
      const gemini = {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        generationConfig: { responseMimeType: 'application/json' },
      };
      const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const all = { model: kind, stream };
      const bodies: [path: string, body: object][] = [
        ['v1/chat/completions', { ...all, messages, tools, stream_options: { include_usage: true } }],
        [
          'v1/responses',
          { ...all, instructions: 'Be brief.', input: 'Hi', text: { format: { type: 'json_object' } } },
        ],
        ['v1/messages', { ...all, system: 'Be brief.', messages: messages.slice(1), max_tokens: 9 }],
        [`v1beta/models/${kind}:${method}`, gemini],
        ['api/chat', { ...all, messages, format: 'json' }],
      ];
      return bodies.map(([path, body]) => ({ url: `${root}/${path}`, body: JSON.stringify(body) }));
    }),
  );
}

async function send(weir: Weir, url: string, body: string): Promise<void> {
  const fetch = /generateContent/i.test(url)
    ? googleFetch(weir)
    : url.includes('/api/')
      ? ollamaFetch(weir)
      : weir.fetch();
  await fetch(url, { method: 'POST', body })
    .then((response) => response.text())
    .catch(() => {});
}

/** What both SDKs have to say alike. The names of packages and functions are those of each language. */
// biome-ignore lint/suspicious/noExplicitAny: events are any JSON.
function comparable({ status, instrumentation, properties: { llm } }: any): object {
  const { timeToFirstChunkMs, ...known } = llm;
  return { status, source: instrumentation.source, llm: known, isStream: timeToFirstChunkMs !== undefined };
}
