import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { observeGoogle } from '../../src/google.ts';
import { Weir } from '../../src/index.ts';
import { observeMistral } from '../../src/mistral.ts';
import { observeOllama } from '../../src/ollama.ts';
import { type OtherClient, otherScenarios } from '../differential/other-scenarios.ts';
import { type Harness, runScenario } from '../differential/scenario.ts';
import { startProvider } from '../support/provider.ts';
import { bigInteger } from '../support/provider-bodies.ts';
import { WeirStub } from '../support/weir-stub.ts';
import { requireVersion } from './places.ts';

let harness: Pick<Harness<unknown>, 'provider' | 'stub'>;
beforeAll(async () => {
  harness = { provider: await startProvider(), stub: await WeirStub.start() };
});
afterAll(async () => {
  await harness.provider[Symbol.asyncDispose]();
  await harness.stub.close();
});

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'How warm is it?' },
];
const origin = () => harness.provider.url.replace('/v1', '');

/** A client, and the functions that the scenarios use. */
interface Opened {
  client: object;
  use: OtherClient & { embed(): Promise<unknown> };
}

function openMistral(): Opened {
  const { Mistral } = requireVersion('@mistralai/mistralai');
  const client = new Mistral({ apiKey: 'k', serverURL: origin() });
  return {
    client,
    use: {
      call: (model) => client.chat.complete({ model, messages }),
      stream: (model) => client.chat.stream({ model, messages }),
      embed: () => client.embeddings.create({ model: 'e', inputs: ['x'] }),
    },
  };
}

function openOllama(): Opened {
  const { Ollama } = requireVersion('ollama');
  const client = new Ollama({ host: origin() });
  return {
    client,
    use: {
      call: (model) => client.chat({ model, messages }),
      stream: (model) => client.chat({ model, messages, stream: true }),
      embed: () => client.embed({ model: 'e', input: 'x' }),
    },
  };
}

function openGoogle(): Opened {
  const { GoogleGenAI } = requireVersion('@google/genai');
  const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: origin() } });
  const request = (model: string) => ({
    model,
    contents: 'How warm is it?',
    config: { systemInstruction: 'Be brief.' },
  });
  const use = {
    call: (model: string) => client.models.generateContent(request(model)),
    stream: (model: string) => client.models.generateContentStream(request(model)),
    embed: () => client.models.embedContent({ model: 'e', contents: 'x' }),
  };
  return { client, use };
}

const clients: [name: string, open: () => Opened, observe: typeof observeMistral, source: string][] = [
  ['@mistralai/mistralai', openMistral, observeMistral, 'mistral'],
  ['ollama', openOllama, observeOllama, 'ollama'],
  ['@google/genai', openGoogle, observeGoogle, 'google'],
];

describe.each(clients)('%s', (name, open, observe, source) => {
  test.each(otherScenarios)('observed like bare: $name', async (scenario) => {
    const createObserved = (weir: Weir) => {
      const { client, use } = open();
      expect(observe(weir, observe(weir, client))).toBe(client);
      return use;
    };
    await runScenario(scenario, { ...harness, createBare: () => open().use, createObserved });
  });

  test('the event has the request, the model that answered, and the usage', async () => {
    const { stub } = harness;
    stub.accepted.clear();
    const weir = new Weir({ url: stub.url, apiKey: 'key', flushOnExit: false });
    const { client, use } = open();
    observe(weir, client);
    await weir.trace(() => use.call('tools'), { name: 'ask', userId: 'u' });
    await use.embed().catch(() => {});
    expect(await weir.shutdown()).toMatchObject({ accepted: 1 });
    expect(weir.stats()).toMatchObject({ embeddings: 1, recorded: 1 });
    const [event] = stub.events;
    expect(event).toMatchObject({
      context: { userId: 'u' },
      instrumentation: { source, sourcePackage: name },
      additionalProperties: { 'span.path': 'ask' },
      properties: {
        llm: {
          model: expect.stringMatching(/test-2026$/),
          input: { system: 'Be brief.', prompt: 'How warm is it?', messages: expect.any(Array) },
          usage: { inputTokens: 120, outputTokens: 30, totalTokens: 150 },
          output: { finishReason: expect.any(String) },
        },
      },
    });
    expect(JSON.stringify(event?.properties.llm?.output?.toolCalls)).toContain(bigInteger);
  });
});
