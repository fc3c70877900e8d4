// Sends two events to Weir over gRPC: an LLM call and a tool call.

import { randomUUID } from 'node:crypto';
import process, { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { credentials, loadPackageDefinition, Metadata, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const directory = (path) => fileURLToPath(new URL(path, import.meta.url));
const definition = loadSync(
  ['weir/ingest/v1/ingest_service.proto', 'weir/ingest/v1/error_detail.proto', 'google/rpc/status.proto'],
  { includeDirs: [directory('../../../proto'), directory('.')], enums: String },
);
const { IngestService } = loadPackageDefinition(definition).weir.ingest.v1;

const tries = 5;
// After a deadline the batch may be stored or not, as after any lost response: retry with the same ids.
const retried = [status.UNAVAILABLE, status.INTERNAL, status.DEADLINE_EXCEEDED];

async function main() {
  const { protocol, host } = new URL(env.WEIR_URL);
  const weir = new IngestService(
    host,
    protocol === 'https:' ? credentials.createSsl() : credentials.createInsecure(),
  );
  // Generate the ids once: a retry with the same ids never stores an event twice.
  const request = { events: makeEvents() };
  for (let attempt = 1; ; attempt++) {
    try {
      const { message } = await ingestEvents(weir, request);
      console.log(message);
      return;
    } catch (error) {
      const failure = describe(error);
      if (!retried.includes(error.code)) {
        throw new Error(`${failure} Do not retry; the request, the key or the plan has to change.`);
      }
      if (attempt === tries) throw new Error(`${failure} Giving up; try again later with the same ids.`);
      const pauseSeconds = 0.25 * 2 ** attempt;
      console.error(`${failure} Trying again in ${pauseSeconds} s.`);
      await sleep(pauseSeconds * 1000);
    }
  }
}

function ingestEvents(weir, request) {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${env.WEIR_API_KEY}`);
  const deadline = Date.now() + 30_000;
  return new Promise((resolve, reject) => {
    weir.ingestEvents(request, metadata, { deadline }, (error, response) => {
      if (error) reject(error);
      else resolve(response);
    });
  });
}

/** Weir's own error, or gRPC's when the call did not reach Weir. */
function describe({ code, details, metadata }) {
  const [encoded] = metadata.get('grpc-status-details-bin');
  if (encoded) {
    const failure = definition['google.rpc.Status'].deserialize(encoded);
    const detail = failure.details.find(({ type_url }) => type_url.endsWith('/weir.ingest.v1.ErrorDetail'));
    if (detail) {
      const { id, details } = definition['weir.ingest.v1.ErrorDetail'].deserialize(detail.value);
      return `${id}: ${details}`;
    }
  }
  return `${status[code]}: ${details}`;
}

function makeEvents() {
  const nowMs = Date.now();
  const traceId = randomUUID();
  const llmCall = {
    id: randomUUID(),
    traceId,
    startTimeMs: nowMs - 1330,
    endTimeMs: nowMs - 80,
    durationMs: 1250,
    status: { state: 'STATE_OK' },
    instrumentation: { vendor: 'weir', source: 'openai', sourcePackage: 'my-agent' },
    context: { threadId: 'thread-1', userId: 'user-1' },
    additionalProperties: toStruct({ plan: 'pro', seats: 3 }),
    llm: {
      model: 'gpt-4o',
      input: { system: 'Be brief.', prompt: 'How warm is it in Bern?' },
      output: { mode: 'text', response: 'It is 21 °C.' },
      usage: { inputTokens: 12, outputTokens: 7, totalTokens: 19 },
    },
  };
  const toolCall = {
    id: randomUUID(),
    traceId,
    startTimeMs: nowMs - 80,
    endTimeMs: nowMs,
    durationMs: 80,
    status: {
      state: 'STATE_ERROR',
      error: { code: toValue('timeout'), httpStatus: toValue(504), message: 'No answer.' },
    },
    instrumentation: { vendor: 'weir', source: 'weather', sourcePackage: 'my-agent' },
    context: { threadId: 'thread-1' },
    // Required, even if empty.
    additionalProperties: toStruct({}),
    tool: { name: 'get_weather', input: toValue({ city: 'Bern', days: [1, 2] }) },
  };
  return [llmCall, toolCall];
}

/** Converts an object to a google.protobuf.Struct, which proto-loader does not do. */
function toStruct(object) {
  return { fields: Object.fromEntries(Object.entries(object).map(([key, value]) => [key, toValue(value)])) };
}

/** Any JSON value as a google.protobuf.Value. */
function toValue(value) {
  if (value === null) return { nullValue: 'NULL_VALUE' };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'string') return { stringValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(toValue) } };
  return { structValue: toStruct(value) };
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
