// Sends two events to Weir: an LLM call and a tool call.

import { randomUUID } from 'node:crypto';
import process, { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

const tries = 5;

async function main() {
  // Generate the ids once: a retry with the same ids never stores an event twice.
  const body = JSON.stringify({ events: makeEvents() });
  for (let attempt = 1; ; attempt++) {
    const { status, text } = await post(body);
    if (status === 202) {
      console.log(JSON.parse(text).message);
      return;
    }
    if (status >= 400 && status < 500) {
      const { id, details } = JSON.parse(text).error;
      throw new Error(`${id}: ${details} Do not retry; the request, the key or the plan has to change.`);
    }
    if (attempt === tries) throw new Error(`${text} Giving up; try again later with the same ids.`);
    const pauseSeconds = 0.25 * 2 ** attempt;
    console.error(`${text} Trying again in ${pauseSeconds} s.`);
    await sleep(pauseSeconds * 1000);
  }
}

/** Sends the batch. Status 0 means a lost response: the batch may be stored or not. */
async function post(body) {
  try {
    const response = await fetch(`${env.WEIR_URL}/v1/ingest-events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.WEIR_API_KEY}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(30_000),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { status: 0, text: `No answer: ${error.message}.` };
  }
}

function makeEvents() {
  const nowMs = Date.now();
  const traceId = randomUUID();
  const llmCall = {
    id: randomUUID(),
    type: 'llm',
    traceId,
    startTimeMs: nowMs - 1330,
    endTimeMs: nowMs - 80,
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
  };
  const toolCall = {
    id: randomUUID(),
    type: 'tool',
    traceId,
    startTimeMs: nowMs - 80,
    endTimeMs: nowMs,
    durationMs: 80,
    status: { state: 'error', error: { code: 'timeout', httpStatus: 504, message: 'No answer.' } },
    instrumentation: { vendor: 'weir', source: 'weather', sourcePackage: 'my-agent' },
    context: { threadId: 'thread-1' },
    // Required, even if empty.
    additionalProperties: {},
    properties: { tool: { name: 'get_weather', input: { city: 'Bern', days: [1, 2] } } },
  };
  return [llmCall, toolCall];
}

await main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
