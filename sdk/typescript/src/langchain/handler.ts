import type { Recorder } from '../core/recorder.ts';
import { addLevel, createLevel } from '../core/span.ts';
import type { Scope } from '../event/context.ts';
import { describeError } from '../event/error-details.ts';
import type { EventError } from '../event/event.ts';
import { createUuid } from '../event/uuid.ts';
import { type Run, Runs } from '../frameworks/runs.ts';
import { asArray, asObject, asText, type Json } from '../wire/read.ts';
import { composeModel, composeTool, type RunData, readInput } from './events.ts';
import { readRequest } from './messages.ts';

type Ids = { id: string; parentId: string | undefined };

interface RunContext {
  tags: string[] | undefined;
  metadata: Json | undefined;
  /** Returns the scope of what the run runs. Default: the scope around the run. */
  enter?: (scope: Scope) => Scope;
}

const aborted = { code: 'aborted', message: 'The caller stopped reading the answer.' };

/**
 * LangChain's callback handler, without a dependency on LangChain: the members are those of its
 * `BaseCallbackHandler`.
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
    const enter = (scope: Scope) => (isHidden(tags) ? scope : addLevel(scope, createLevel(name)));
    this.#open({ id, parentId }, { kind: 'span' }, { tags, metadata, enter });
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
    const enter = (scope: Scope) => ({ ...scope, parentEventId: eventId });
    this.#open({ id, parentId }, data, { tags, metadata, enter });
  }

  handleToolEnd(output: unknown, id: string): void {
    this.#runs.close(id, (run) => this.#record(run, output, undefined));
  }

  handleToolError(error: unknown, id: string): void {
    this.#fail(id, error);
  }

  #open(ids: Ids, data: RunData, { tags, metadata, enter = (scope) => scope }: RunContext): void {
    if (!this.#recorder.isEnabled) return;
    this.#runs.open(ids, data, { enter, describe: (outer) => addRunContext(outer, tags, metadata) });
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

/** The class of a serialized object. */
function nameOf(serialized: unknown): string {
  const { id, name } = asObject(serialized);
  return asText(name) ?? asText(asArray(id).at(-1)) ?? 'run';
}

/** Tags and metadata that LangChain and LangGraph add themselves. */
const ownTags = /^(seq:step|map:key|graph:step|branch|condition|langsmith:|lc_)/;
const ownMetadata =
  /^(ls_|lc_|langgraph_|langsmith|checkpoint|__|versions$|thread_id$|session_id$|conversation_id$|user_id$)/;

/** The scope with what tags and metadata of a run say. They win over the context around the run. */
function addRunContext(outer: Scope, tags: readonly string[] = [], metadata: Json = {}): Scope {
  const own = tags.filter((tag) => !ownTags.test(tag) && !outer.tags?.includes(tag));
  const dimensions = Object.entries(metadata).filter(
    (entry): entry is [string, string | number] =>
      !ownMetadata.test(entry[0]) && (typeof entry[1] === 'string' || typeof entry[1] === 'number'),
  );
  const { thread_id: thread, session_id: session, conversation_id: conversation } = metadata;
  const threadId = asText(thread) ?? asText(session) ?? asText(conversation) ?? outer.threadId;
  const userId = asText(metadata.user_id) ?? outer.userId;
  const agentId = asText(metadata.lc_agent_name) ?? outer.agentId;
  return {
    ...outer,
    ...(threadId !== undefined && { threadId }),
    ...(userId !== undefined && { userId }),
    ...(agentId !== undefined && { agentId }),
    ...(own.length > 0 && { tags: [...(outer.tags ?? []), ...own] }),
    additionalProperties: { ...outer.additionalProperties, ...Object.fromEntries(dimensions) },
  };
}

/** Whether LangGraph marks a run as a detail that no trace shows. */
function isHidden(tags: readonly string[] = []): boolean {
  return tags.includes('langsmith:hidden');
}
