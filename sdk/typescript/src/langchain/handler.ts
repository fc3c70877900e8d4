import type { Recorder } from '../core/recorder.ts';
import { addLevel, createLevel } from '../core/span.ts';
import type { Scope } from '../event/context.ts';
import { describeError } from '../event/error-details.ts';
import type { EventError, EventInput } from '../event/event.ts';
import { JsonText } from '../event/json-text.ts';
import { createUuid } from '../event/uuid.ts';
import { type Run, Runs } from '../frameworks/runs.ts';
import type { LlmAnswer, LlmRequest } from '../wire/adapter.ts';
import { composeLlm } from '../wire/llm.ts';
import { asArray, asObject, asText, type Json } from '../wire/read.ts';
import { readAnswer, readRequest } from './messages.ts';
import { addRunContext, isHidden } from './run-context.ts';

type RunData =
  | { kind: 'span' }
  | { kind: 'tool'; id: string; name: string; input: unknown; callId: unknown }
  | { kind: 'llm'; request: LlmRequest; source: string; firstTokenMs?: number };

type Ids = { id: string; parentId: string | undefined };

const aborted = { code: 'aborted', message: 'The caller stopped reading the answer.' };

/**
 * LangChain's callback handler, without a dependency on LangChain: the members are those of its `BaseCallbackHandler`.
 *
 * LangChain awaits the handler, so that its reports come in time and in order; each takes microseconds.
 */
export class WeirCallbackHandler {
  readonly name = 'weir';
  readonly awaitHandlers = true;
  readonly raiseError = false;
  readonly ignoreLLM = false;
  readonly ignoreChain = false;
  readonly ignoreAgent = false;
  readonly ignoreRetriever = false;
  readonly ignoreCustomEvent = true;
  readonly #recorder: Recorder;
  readonly #runs = new Runs<RunData>((run) => this.#record(run, undefined, aborted));

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
    recorder.onSettle((isEnd) => isEnd && this.#runs.closeAll());
  }

  /** LangChain copies handlers for child runs: they share the runs. */
  copy(): this {
    return this;
  }

  handleChatModelStart(
    _model: unknown,
    messages: readonly (readonly unknown[])[],
    id: string,
    parentId?: string,
    extra?: Json,
    tags?: string[],
    metadata?: Json,
  ): void {
    const request = readRequest(messages[0] ?? [], asObject(extra), asObject(metadata));
    const source = asText(asObject(metadata).ls_provider) ?? 'langchain';
    this.#open({ id, parentId }, { kind: 'llm', request, source }, { tags, metadata });
  }

  handleLLMStart(
    model: unknown,
    prompts: readonly string[],
    id: string,
    parentId?: string,
    extra?: Json,
    tags?: string[],
    metadata?: Json,
  ): void {
    const messages = prompts.map((content) => ({ role: 'user', content }));
    this.handleChatModelStart(model, [messages], id, parentId, extra, tags, metadata);
  }

  handleLLMNewToken(_token: string, _index: unknown, id: string): void {
    const run = this.#runs.get(id);
    if (run?.data.kind === 'llm') run.data.firstTokenMs ??= Date.now() - run.startTimeMs;
  }

  handleLLMEnd(output: unknown, id: string): void {
    this.#runs.close(id, (run) => this.#record(run, output, undefined));
  }

  handleLLMError(error: unknown, id: string): void {
    this.#fail(id, error);
  }

  handleChainStart(
    chain: unknown,
    _inputs: unknown,
    id: string,
    parentId?: string,
    tags?: string[],
    metadata?: Json,
    _type?: string,
    runName?: string,
  ): void {
    const name = runName ?? nameOf(chain);
    this.#open({ id, parentId }, { kind: 'span' }, { tags, metadata }, (scope) =>
      isHidden(tags) ? scope : addLevel(scope, createLevel(name)),
    );
  }

  handleChainEnd(_outputs: unknown, id: string): void {
    this.#runs.close(id);
  }

  handleChainError(_error: unknown, id: string): void {
    this.#runs.close(id);
  }

  handleRetrieverStart(
    retriever: unknown,
    _query: string,
    id: string,
    parentId?: string,
    tags?: string[],
    metadata?: Json,
    runName?: string,
  ): void {
    this.handleChainStart(retriever, undefined, id, parentId, tags, metadata, undefined, runName);
  }

  handleRetrieverEnd(_documents: unknown, id: string): void {
    this.#runs.close(id);
  }

  handleRetrieverError(_error: unknown, id: string): void {
    this.#runs.close(id);
  }

  handleToolStart(
    tool: unknown,
    text: string,
    id: string,
    parentId?: string,
    tags?: string[],
    metadata?: Json,
    runName?: string,
    callId?: string,
  ): void {
    const eventId = createUuid();
    const data: RunData = {
      kind: 'tool',
      id: eventId,
      name: runName ?? nameOf(tool),
      input: readInput(text),
      callId,
    };
    this.#open({ id, parentId }, data, { tags, metadata }, (scope) => ({ ...scope, parentEventId: eventId }));
  }

  handleToolEnd(output: unknown, id: string): void {
    this.#runs.close(id, (run) => this.#record(run, output, undefined));
  }

  handleToolError(error: unknown, id: string): void {
    this.#fail(id, error);
  }

  #open(
    ids: Ids,
    data: RunData,
    { tags, metadata }: { tags: string[] | undefined; metadata: Json | undefined },
    enter: (scope: Scope) => Scope = (scope) => scope,
  ): void {
    if (!this.#recorder.isEnabled) return;
    this.#runs.open(
      ids,
      data,
      (outer) => enter(outer),
      (outer) => addRunContext(outer, tags, metadata),
    );
  }

  #fail(id: string, error: unknown): void {
    this.#runs.close(id, (run) => this.#record(run, undefined, describeError(error)));
  }

  #record({ data, startTimeMs }: Run<RunData>, output: unknown, error: EventError | undefined): void {
    if (data.kind === 'span') return;
    const event = data.kind === 'tool' ? composeTool(data, output, error) : composeModel(data, output, error);
    this.#recorder.record({ ...event, startTimeMs, endTimeMs: Date.now() });
  }
}

function composeModel(
  data: RunData & { kind: 'llm' },
  output: unknown,
  error: EventError | undefined,
): EventInput {
  const answer: LlmAnswer | undefined = output === undefined ? undefined : readAnswer(output);
  return {
    type: 'llm',
    status: error ? { state: 'error', error } : { state: 'ok' },
    instrumentation: { source: data.source, sourcePackage: 'langchain', sourceFunction: 'invoke' },
    properties: { llm: composeLlm(data.request, answer, { timeToFirstChunkMs: data.firstTokenMs }) },
  };
}

function composeTool(
  { id, name, input, callId }: RunData & { kind: 'tool' },
  output: unknown,
  error: EventError | undefined,
): EventInput {
  // A tool that an agent called returns a message with its result.
  const { content, tool_call_id: messageCallId, status } = asObject(output);
  const isMessage = messageCallId !== undefined;
  const result = isMessage ? content : output;
  const own = isMessage && status === 'error' ? { message: String(content) } : undefined;
  const fault = error ?? own;
  return {
    id,
    type: 'tool',
    status: fault ? { state: 'error', error: fault } : { state: 'ok' },
    instrumentation: { source: name, sourcePackage: 'langchain', sourceFunction: 'tool' },
    properties: {
      tool: {
        name,
        input,
        ...((messageCallId ?? callId) !== undefined && { callId: messageCallId ?? callId }),
        ...(fault === undefined && result !== undefined && { output: result }),
      },
    },
  };
}

/** The arguments of a tool, which LangChain reports as JSON. */
function readInput(text: string): unknown {
  try {
    return typeof JSON.parse(text) === 'object' ? new JsonText(text) : text;
  } catch {
    return text;
  }
}

/** The class of a serialized object. */
function nameOf(serialized: unknown): string {
  const { id, name } = asObject(serialized);
  return asText(name) ?? asText(asArray(id).at(-1)) ?? 'run';
}
