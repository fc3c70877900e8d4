// Sends two events to Weir over Connect: an LLM call and a tool call.

import { randomUUID } from 'node:crypto';
import process, { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { ErrorDetailSchema } from './gen/weir/ingest/v1/error_detail_pb.js';
import { Status_State } from './gen/weir/ingest/v1/event_pb.js';
import { IngestService } from './gen/weir/ingest/v1/ingest_service_pb.js';

const tries = 5;
// After a deadline the batch may be stored or not, as after any lost response: retry with the same ids.
// The library reports a broken connection as Aborted.
const retried = [Code.Unavailable, Code.Internal, Code.DeadlineExceeded, Code.Aborted];

async function main() {
  // For gRPC, use createGrpcTransport({ baseUrl }) from the same package.
  const transport = createConnectTransport({ baseUrl: env.WEIR_URL, httpVersion: '1.1' });
  const weir = createClient(IngestService, transport);
  const headers = { authorization: `Bearer ${env.WEIR_API_KEY}` };
  // Generate the ids once: a retry with the same ids never stores an event twice.
  const request = { events: makeEvents() };
  for (let attempt = 1; ; attempt++) {
    try {
      const { message } = await weir.ingestEvents(request, { headers, timeoutMs: 30_000 });
      console.log(message);
      return;
    } catch (error) {
      const failure = ConnectError.from(error);
      if (!retried.includes(failure.code)) {
        throw new Error(`${describe(failure)} Do not retry; the request, the key or the plan has to change.`);
      }
      if (attempt === tries) {
        throw new Error(`${describe(failure)} Giving up; try again later with the same ids.`);
      }
      const pauseSeconds = 0.25 * 2 ** attempt;
      console.error(`${describe(failure)} Trying again in ${pauseSeconds} s.`);
      await sleep(pauseSeconds * 1000);
    }
  }
}

/** Weir's own error, or the library's when the call did not reach Weir. */
function describe(failure) {
  const [detail] = failure.findDetails(ErrorDetailSchema);
  return detail ? `${detail.id}: ${detail.details}` : failure.message;
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
    status: { state: Status_State.OK },
    instrumentation: { vendor: 'weir', source: 'openai', sourcePackage: 'my-agent' },
    context: { threadId: 'thread-1', userId: 'user-1' },
    additionalProperties: { plan: 'pro', seats: 3 },
    payload: {
      case: 'llm',
      value: {
        model: 'gpt-4o',
        input: { system: 'Be brief.', prompt: 'How warm is it in Bern?' },
        output: { mode: 'text', response: 'It is 21 °C.' },
        usage: { inputTokens: 12, outputTokens: 7, totalTokens: 19 },
      },
    },
  };
  const toolCall = {
    id: randomUUID(),
    traceId,
    startTimeMs: nowMs - 80,
    endTimeMs: nowMs,
    durationMs: 80,
    status: {
      state: Status_State.ERROR,
      error: {
        code: fromJson(ValueSchema, 'timeout'),
        httpStatus: fromJson(ValueSchema, 504),
        message: 'No answer.',
      },
    },
    instrumentation: { vendor: 'weir', source: 'weather', sourcePackage: 'my-agent' },
    context: { threadId: 'thread-1' },
    // Required, even if empty.
    additionalProperties: {},
    payload: {
      case: 'tool',
      value: { name: 'get_weather', input: fromJson(ValueSchema, { city: 'Bern', days: [1, 2] }) },
    },
  };
  return [llmCall, toolCall];
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
