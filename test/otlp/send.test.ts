import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { type RequestInit, toOtlpJson } from '../../harness/fixtures/spans.ts';
import { readJson } from '../../launcher/data-directory/json-file.ts';
import { createApiKey } from '../../store/accounts/api-key.ts';
import { runWeir, startWeirCommand } from '../support/cli/command-line.ts';
import type { Tenant } from '../support/pipeline.ts';
import { readStored } from '../support/stored-events.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

/** `weir send` with files of spans in the formats that exporters write, and with a file of events. */

const { pipeline } = usePipeline();
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'weir-test-spans-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const chat = { 'gen_ai.operation.name': 'chat' };
const requests: RequestInit[] = [1, 2, 3].map((number) => ({
  spans: [
    { spanId: String(number).repeat(16), attributes: chat },
    { spanId: `a${number}`.repeat(8), attributes: { 'http.request.method': 'GET' } },
  ],
}));
const lines = requests.map((request) => toOtlpJson(request).toString());
const document = JSON.stringify(JSON.parse(toOtlpJson(...requests).toString()), null, 2);

async function send(content: string | Buffer, { apiKey }: Pick<Tenant, 'apiKey'>, ...options: string[]) {
  const file = join(directory, 'traces.jsonl');
  writeFileSync(file, content);
  const result = await runWeir(['send', file, '--url', pipeline.url, '--key', apiKey, ...options]);
  return { ...result, summary: result.stdout === '' ? undefined : JSON.parse(result.stdout) };
}

test.each([
  ['a request a line', `${lines.join('\n')}\n`, 3],
  ['a request a line, gzip', gzipSync(lines.join('\n')), 3],
  ['one document', document, 1],
])('%s: its calls are stored once, however often they are sent', async (_, content, requestCount) => {
  const tenant = await pipeline.createTenant();
  for (let times = 0; times < 2; times++) {
    const { exitCode, summary, stderr } = await send(content, tenant);
    expect(exitCode).toBe(0);
    expect(summary).toMatchObject({
      accepted: 3,
      rejected: 0,
      filtered: 3,
      errors: [],
      requests: requestCount,
    });
    expect(stderr).toContain('Skipped 3 spans that are not calls of a model or a tool.');
  }
  expect(await readStored(pipeline, tenant.spaceId)).toHaveLength(3);
});

test('spans that cannot be stored are reported by line, and the rest is stored', async () => {
  const tenant = await pipeline.createTenant();
  const bad = toOtlpJson({ spans: [{ attributes: chat, spanId: 'abcd' }, { attributes: chat }] });
  const malformed = '{"resourceSpans":[{"scopeSpans":{}}]}';
  const { exitCode, summary } = await send(`${lines[0]}\n${bad}\n${malformed}\n{"resourceSpans":[`, tenant);
  expect(exitCode).toBe(1);
  expect(summary).toMatchObject({ accepted: 2, rejected: 3, filtered: 1, requests: 3 });
  const byLine = summary.errors.toSorted((a: { details: string }, b: { details: string }) =>
    a.details.localeCompare(b.details),
  );
  expect(byLine).toMatchObject([
    {
      id: 'partial_success',
      details: 'Line 2: 1 of the spans cannot be stored. The first: A span has no valid span id.',
    },
    { status: 400, id: 'invalid_request_body', details: expect.stringContaining('Line 3: ') },
    { id: 'batch_too_large', details: expect.stringContaining('Line 4: ') },
  ]);
  expect(await readStored(pipeline, tenant.spaceId)).toHaveLength(2);
});

test('a command that is killed is continued: every event is stored once, and the bad line is named', async () => {
  const { apiKey, spaceId } = await pipeline.createTenant();
  const file = join(directory, 'events.ndjson');
  const events = Array.from({ length: 3_000 }, () => JSON.stringify(llmEvent()));
  writeFileSync(file, ['nonsense', ...events].join('\n'));
  const args = ['send', file, '--url', pipeline.url, '--key', apiKey, '--fresh-ids'];
  const child = startWeirCommand([...args, '--batch', '1', '--concurrency', '2']);
  await until(() => (readJson<{ position: number }>(`${file}.weir-send.json`)?.position ?? 0) > 0, 60_000);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(child.exitCode, 'it was killed before its end').toBeNull();
  const { exitCode, stdout, stderr } = await runWeir(args);
  expect(stderr).toMatch(/Continuing after line \d/);
  expect(exitCode).toBe(1);
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({ accepted: 3_000, rejected: 1 });
  expect(summary.errors).toMatchObject([{ details: expect.stringMatching(/^Line 1: /) }]);
  expect(await readStored(pipeline, spaceId)).toHaveLength(3_000);
});

test('an invalid key is reported, and --fresh-ids is refused', async () => {
  const { apiKey } = await pipeline.createTenant();
  const refused = await send(lines[0] ?? '', { apiKey: createApiKey() });
  expect(refused).toMatchObject({
    exitCode: 1,
    summary: { accepted: 0, errors: [{ status: 401, id: 'unauthorized' }] },
  });
  const fresh = await send(lines[0] ?? '', { apiKey }, '--fresh-ids');
  expect(fresh).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('--fresh-ids works only for events'),
  });
});
