import { afterAll, beforeAll, expect, test } from 'vitest';
import { chatCompletions } from '../../src/adapters/chat.ts';
import { generateContent } from '../../src/adapters/generate-content.ts';
import { Recorder } from '../../src/core.ts';
import { googleFetch } from '../../src/google.ts';
import { ollamaFetch } from '../../src/ollama.ts';
import { LineParser } from '../../src/wire/lines.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { bodies, expectedToolCalls, gemini, geminiText, text } from '../support/provider-bodies.ts';
import { WeirStub } from '../support/weir-stub.ts';

let provider: Provider;
let stub: WeirStub;
beforeAll(async () => {
  provider = await startProvider();
  stub = await WeirStub.start();
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await stub.close();
});

const apis = {
  gemini: {
    open: googleFetch,
    path: (kind: string, isStream: boolean) =>
      `v1beta/models/${kind}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'How warm is it?' }] }],
      generationConfig: { responseMimeType: 'application/json' },
    }),
    usage: { cacheReadTokens: 64, reasoningTokens: 10 },
  },
  ollama: {
    open: ollamaFetch,
    path: () => 'api/chat',
    body: (kind: string, isStream: boolean) => ({
      model: kind,
      stream: isStream,
      format: 'json',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How warm is it?' },
      ],
    }),
    usage: {},
  },
};

test.each(
  (['gemini', 'ollama'] as const).flatMap((api) =>
    [false, true].flatMap((isStream) =>
      (['text', 'tools'] as const).map((kind) => ({ api, isStream, kind })),
    ),
  ),
)('$api, stream: $isStream, $kind', async ({ api, isStream, kind }) => {
  const { open, path, body, usage } = apis[api];
  const recorder = new Recorder({ url: stub.url, apiKey: 'key', flushOnExit: false });
  stub.accepted.clear();
  const response = await open(recorder)(`${provider.url}/${path(kind, isStream)}`, {
    method: 'POST',
    body: JSON.stringify(body(kind, isStream)),
  });
  await response.text();
  await recorder.flush();
  const [event] = stub.events;
  expect(event).toMatchObject({
    status: { state: 'ok' },
    properties: {
      llm: {
        input: { system: 'Be brief.', prompt: 'How warm is it?', messages: expect.any(Array) },
        output: kind === 'text' ? { mode: 'json', response: text } : { mode: 'tool_calls' },
        usage: { inputTokens: 120, outputTokens: 30, totalTokens: 150 },
      },
    },
  });
  if (kind === 'tools') expect(event?.properties.llm?.output?.toolCalls).toEqual(expectedToolCalls);
  const { inputTokenDetails, outputTokenDetails } = event?.properties.llm?.usage ?? {};
  expect({ ...inputTokenDetails, ...outputTokenDetails }).toMatchObject(usage);
});

test('gemini: a list of chunks, thoughts, a blocked prompt and an error', () => {
  const list = `[${gemini(geminiText('It is'), null)},\n${gemini(geminiText(' warm.'))}]`;
  expect(generateContent.readAnswer(list)).toMatchObject({ response: 'It is warm.', isComplete: true });
  const thought = gemini(`{"text":"Hm.","thought":true},${geminiText('Warm.')}`);
  expect(generateContent.readAnswer(thought)).toMatchObject({ response: 'Warm.', reasoning: 'Hm.' });
  expect(generateContent.readAnswer('{"promptFeedback":{"blockReason":"SAFETY"}}')).toMatchObject({
    finishReason: 'SAFETY',
    isComplete: true,
  });
  const error = { code: 429, message: 'Too many.', status: 'RESOURCE_EXHAUSTED' };
  expect(generateContent.readAnswer(JSON.stringify({ error })).error).toEqual({
    code: 'RESOURCE_EXHAUSTED',
    message: 'Too many.',
  });
});

test('mistral: thoughts are parts of the content, and arguments may be an object', () => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    { type: 'text', text: 'Warm.' },
  ];
  const call = { id: 'c', function: { name: 'f', arguments: { city: 'Bern' } } };
  const message = { content, tool_calls: [call] };
  const body = JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] });
  expect(chatCompletions.readAnswer(body)).toMatchObject({
    response: 'Warm.',
    reasoning: 'Hm.',
    toolCalls: [{ id: 'c', name: 'f', arguments: '{"city":"Bern"}' }],
  });
});

test('lines may be split anywhere, end with CRLF, and the last one needs no end', () => {
  const whole = `${bodies.ollama.text}\r\n\n${bodies.ollama.json}`;
  for (let cut = 0; cut < whole.length; cut += 7) {
    const lines: string[] = [];
    const parser = new LineParser((line) => lines.push(line.trim()));
    parser.push(whole.slice(0, cut));
    parser.push(whole.slice(cut));
    parser.end();
    expect(lines).toEqual([bodies.ollama.text, bodies.ollama.json]);
  }
});
