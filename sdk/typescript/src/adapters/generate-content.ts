import { dropUndefined } from '../event/drop-undefined.ts';
import { codeOf } from '../event/error-details.ts';
import type { EventError } from '../event/event.ts';
import type { Adapter, LlmAnswer, LlmRequest, StreamReader, ToolCall } from '../wire/adapter.ts';
import { sliceElements, sliceMembers } from '../wire/json-slice.ts';
import { asArray, asIndex, asObject, asText, inOrder, type Json } from '../wire/read.ts';
import { composeRequest } from '../wire/request.ts';
import { composeUsage } from '../wire/usage.ts';

/** Google's API for Gemini, on both of its platforms. */
export const generateContent: Adapter = {
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
      serviceTier: asText(asObject(usageMetadata).trafficType),
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

function readError(error: Json): EventError {
  return dropUndefined({ code: codeOf(error), message: asText(error.message) ?? '' });
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
    inputParts: {
      audioTokens: ofModality(counts.promptTokensDetails, 'AUDIO'),
      imageTokens: ofModality(counts.promptTokensDetails, 'IMAGE'),
      cacheReadAudioTokens: ofModality(counts.cacheTokensDetails, 'AUDIO'),
      cacheReadImageTokens: ofModality(counts.cacheTokensDetails, 'IMAGE'),
    },
    outputParts: {
      audioTokens: ofModality(counts.candidatesTokensDetails, 'AUDIO'),
      imageTokens: ofModality(counts.candidatesTokensDetails, 'IMAGE'),
    },
  });
}

/** The count of a modality in a list such as `[{ modality: 'AUDIO', tokenCount: 5 }]`. */
function ofModality(details: unknown, modality: string): number | undefined {
  const own = asArray(details)
    .map(asObject)
    .filter((one) => one.modality === modality);
  return sum(...own.map(({ tokenCount }) => tokenCount));
}

function sum(...counts: unknown[]): number | undefined {
  const known = counts.filter((count): count is number => typeof count === 'number');
  return known.length === 0 ? undefined : known.reduce((total, count) => total + count, 0);
}
