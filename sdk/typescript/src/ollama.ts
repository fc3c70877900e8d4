import type { Recorder } from './core/recorder.ts';
import { isObserved, markObserved } from './http/marker.ts';
import { warnUnknown } from './http/observe-client.ts';
import { type Fetch, type ObserveOptions, Observer } from './http/observed-fetch.ts';
import type { Adapter, LlmAnswer, StreamReader, ToolCall } from './wire/adapter.ts';
import { sliceElements, sliceMembers } from './wire/json-slice.ts';
import { LineParser } from './wire/lines.ts';
import { asArray, asObject, asText, type Json, textsOf } from './wire/read.ts';
import { composeRequest, type RequestParts } from './wire/request.ts';
import { composeUsage } from './wire/usage.ts';

export type { ObserveOptions };

/**
 * A fetch that records the calls of Ollama's API, for `new Ollama({ fetch })`.
 *
 * @param base the fetch that sends the requests. Default: the global one.
 */
export function ollamaFetch(recorder: Recorder, options: ObserveOptions = {}, base?: Fetch): Fetch {
  return new Observer({ ...options, recorder, adapters }).wrap(base);
}

/** Records the calls of an `ollama` client. Changes the client in place and returns it. */
export function observeOllama<T extends object>(
  recorder: Recorder,
  client: T,
  options: ObserveOptions = {},
): T {
  const parts = client as { fetch?: Fetch };
  if (isObserved(client)) return client;
  if (parts.fetch === undefined) {
    warnUnknown(client);
    return client;
  }
  parts.fetch = ollamaFetch(recorder, options, parts.fetch);
  return markObserved(client);
}

/**
 * Ollama's chat API. Its streams are newline-delimited JSON; an answer that is not a stream is one such line.
 */
const chat = adapterOf('chat');

/** Ollama's completion API. */
const generate = adapterOf('generate');

const adapters = [chat, generate];

function adapterOf(name: string): Adapter {
  return {
    source: 'ollama',
    sourcePackage: 'ollama',
    sourceFunction: name,
    path: new RegExp(`/api/${name}$`),
    openParser: (onLine) => new LineParser(onLine),
    readRequest: (text) => composeRequest(text, readParts),
    readAnswer(text) {
      const stream = new OllamaStream();
      stream.push(text);
      return stream.answer();
    },
    openStream: () => new OllamaStream(),
  };
}

function readParts({ messages, prompt, system, format }: Json): RequestParts {
  return {
    system: asText(system) ?? textsOf(messages, ['system']).join('\n\n'),
    prompt: asText(prompt) ?? textsOf(messages, ['user']).at(-1),
    tools: ['tools'],
    messages: 'messages',
    // `json`, or a schema.
    format: format ? { type: 'json' } : undefined,
  };
}

/** Joins the lines of an answer. The last one has the counts. */
class OllamaStream implements StreamReader {
  #last: Json = {};
  #response = '';
  #reasoning = '';
  #error: unknown;
  readonly #calls: ToolCall[] = [];

  push(line: string): void {
    const body = asObject(JSON.parse(line));
    const message = asObject(body.message);
    this.#last = body;
    this.#error ??= body.error;
    this.#response += asText(message.content) ?? asText(body.response) ?? '';
    this.#reasoning += asText(message.thinking) ?? asText(body.thinking) ?? '';
    if (asArray(message.tool_calls).length > 0) this.#calls.push(...readCalls(line));
  }

  answer(): LlmAnswer {
    const { model, done, done_reason: reason, prompt_eval_count: input, eval_count: output } = this.#last;
    const message = asText(this.#error) ?? asText(asObject(this.#error).message);
    return {
      model: asText(model),
      response: this.#response,
      reasoning: this.#reasoning || undefined,
      toolCalls: this.#calls,
      usage: composeUsage({ input, output }),
      finishReason: asText(reason),
      error: message === undefined ? undefined : { message },
      isComplete: done === true,
    };
  }
}

/** The tool calls of a line. The arguments keep their JSON text: parsing them would round 64-bit integers. */
function readCalls(line: string): ToolCall[] {
  const message = sliceMembers(line).get('message') ?? '';
  return sliceElements(sliceMembers(message).get('tool_calls') ?? '').map((call) => {
    const details = sliceMembers(call).get('function') ?? '';
    return {
      id: asText(asObject(JSON.parse(call)).id),
      name: asText(asObject(JSON.parse(details || '{}')).name),
      arguments: sliceMembers(details).get('arguments') ?? '{}',
    };
  });
}
