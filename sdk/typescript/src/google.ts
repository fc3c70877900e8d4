import type { Recorder } from './core/recorder.ts';
import type { EventError } from './event/event.ts';
import { isObserved, markObserved } from './http/marker.ts';
import { warnUnknown } from './http/observe-client.ts';
import { type Fetch, type ObserveOptions, Observer } from './http/observed-fetch.ts';
import type { Adapter, LlmAnswer, LlmRequest, StreamReader, ToolCall } from './wire/adapter.ts';
import { sliceElements, sliceMembers } from './wire/json-slice.ts';
import { asArray, asIndex, asObject, asText, inOrder, type Json } from './wire/read.ts';
import { composeRequest } from './wire/request.ts';
import { composeUsage } from './wire/usage.ts';

export type { ObserveOptions };

/** The part of `@google/genai` 1 – 3 that sends requests. Its types declare it protected. */
interface GoogleParts {
  apiClient?: {
    apiCall?: (url: string, init: RequestInit, ...others: unknown[]) => Promise<Response>;
  };
}

/**
 * A fetch that records the calls of Gemini's API, for `new GoogleGenAI({ httpOptions: { fetch } })` from version 3 on. With a fetch
 * of its own that client keeps the time-out of Node's, 5 minutes, which it otherwise turns off: prefer `observeGoogle`.
 *
 * @param base the fetch that sends the requests. Default: the global one.
 */
export function googleFetch(recorder: Recorder, options: ObserveOptions = {}, base?: Fetch): Fetch {
  return new Observer({ ...options, recorder, adapters }).wrap(base);
}

/**
 * Records the calls of a `GoogleGenAI` client: `models` and `chats`, with each call that automatic function calling makes. The
 * attempts of the client's own retries are one event. Changes the client in place and returns it.
 */
export function observeGoogle<T extends object>(
  recorder: Recorder,
  client: T,
  options: ObserveOptions = {},
): T {
  const { apiClient } = client as GoogleParts;
  const apiCall = apiClient?.apiCall;
  if (isObserved(client)) return client;
  if (apiClient === undefined || typeof apiCall !== 'function') {
    warnUnknown(client);
    return client;
  }
  const observer = new Observer({ ...options, recorder, adapters });
  apiClient.apiCall = function (this: unknown, url, init, ...others) {
    const signal = others.find((value) => value instanceof AbortSignal);
    // In older versions the method is an argument of its own.
    const method = init.method ?? others.find((value) => typeof value === 'string');
    const request: RequestInit = { ...init, ...(method && { method }), ...(signal && { signal }) };
    return observer.send(url, request, undefined, () => apiCall.call(this, url, init, ...others));
  };
  return markObserved(client);
}

/** Google's API for Gemini, on both of its platforms. */
const generateContent: Adapter = {
  source: 'google',
  sourcePackage: '@google/genai',
  sourceFunction: 'models.generateContent',
  path: /:(generateContent|streamGenerateContent)$/,
  readRequest,
  readAnswer(text) {
    const stream = new GeminiStream();
    // Without `alt=sse` a stream is a list of chunks.
    for (const chunk of text.trimStart().startsWith('[') ? sliceElements(text) : [text]) stream.push(chunk);
    return stream.answer();
  },
  openStream: () => new GeminiStream(),
};

const adapters = [generateContent];

/** The model is a part of the path: `/v1beta/models/gemini-3-pro:generateContent`. */
function readRequest(text: string, { pathname }: URL): LlmRequest {
  const model = /\/([^/]+):\w+$/.exec(pathname)?.[1];
  return composeRequest(text, ({ contents, systemInstruction, generationConfig }) => ({
    model: model && decodeURIComponent(model),
    system: textOf(systemInstruction),
    prompt: asArray(contents)
      .filter((content) => asObject(content).role !== 'model')
      .flatMap((content) => textOf(content) || [])
      .at(-1),
    tools: ['tools'],
    messages: 'contents',
    format: { type: /json/.exec(String(asObject(generationConfig).responseMimeType))?.[0] },
  }));
}

function textOf(content: unknown): string {
  return asArray(asObject(content).parts)
    .flatMap((part) => asText(asObject(part).text) ?? [])
    .join('\n');
}

interface Candidate {
  response: string;
  reasoning: string;
  toolCalls: ToolCall[];
  finishReason: string | undefined;
}

/** Collects the parts of each candidate. A whole answer is a stream of one chunk. */
class GeminiStream implements StreamReader {
  #last: Json = {};
  #error: EventError | undefined;
  readonly #candidates = new Map<number, Candidate>();

  push(data: string): void {
    const { error, ...chunk } = asObject(JSON.parse(data));
    // The counts are totals, and the last chunk may lack what earlier ones have.
    this.#last = { ...this.#last, ...chunk };
    if (error !== undefined) this.#error = readError(asObject(error));
    for (const text of sliceElements(sliceMembers(data).get('candidates') ?? '')) this.#add(text);
  }

  answer(): LlmAnswer {
    const { modelVersion, responseId, usageMetadata, promptFeedback } = this.#last;
    const blocked = asText(asObject(promptFeedback).blockReason);
    const [first, ...others] = inOrder(this.#candidates);
    const finishReason = first?.finishReason ?? blocked;
    return {
      model: asText(modelVersion),
      response: first?.response ?? '',
      reasoning: first?.reasoning || undefined,
      toolCalls: first?.toolCalls ?? [],
      otherResponses: others.length > 0 ? others.map(({ response }) => response) : undefined,
      usage: readUsage(asObject(usageMetadata)),
      finishReason,
      responseId: asText(responseId),
      error: this.#error,
      isComplete: finishReason !== undefined,
    };
  }

  #add(text: string): void {
    const { index, finishReason } = asObject(JSON.parse(text));
    const at = asIndex(index);
    const candidate = this.#candidates.get(at) ?? {
      response: '',
      reasoning: '',
      toolCalls: [],
      finishReason: undefined,
    };
    this.#candidates.set(at, candidate);
    candidate.finishReason = asText(finishReason) ?? candidate.finishReason;
    const content = sliceMembers(text).get('content') ?? '';
    for (const part of sliceElements(sliceMembers(content).get('parts') ?? '')) addPart(candidate, part);
  }
}

function addPart(candidate: Candidate, raw: string): void {
  const { text, thought, functionCall } = asObject(JSON.parse(raw));
  if (thought === true) candidate.reasoning += asText(text) ?? '';
  else candidate.response += asText(text) ?? '';
  if (functionCall === undefined) return;
  const { id, name } = asObject(functionCall);
  // Keep the JSON text of the arguments: parsing it would round 64-bit integers.
  const args = sliceMembers(sliceMembers(raw).get('functionCall') ?? '').get('args') ?? '{}';
  candidate.toolCalls.push({ id: asText(id), name: asText(name), arguments: args });
}

function readError({ status, code, message }: Json): EventError {
  return { code: asText(status) ?? String(code ?? 'error'), message: asText(message) ?? '' };
}

function readUsage(counts: Json) {
  const { promptTokenCount: prompt, toolUsePromptTokenCount: tools } = counts;
  const { candidatesTokenCount: answer, thoughtsTokenCount: thoughts } = counts;
  return composeUsage({
    input: sum(prompt, tools),
    cacheRead: counts.cachedContentTokenCount,
    output: sum(answer, thoughts),
    reasoning: thoughts,
    total: counts.totalTokenCount,
  });
}

function sum(...counts: unknown[]): number | undefined {
  const known = counts.filter((count): count is number => typeof count === 'number');
  return known.length === 0 ? undefined : known.reduce((total, count) => total + count, 0);
}
