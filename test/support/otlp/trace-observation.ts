import type { Values } from '../../../harness/fixtures/spans.ts';
import type { Random } from '../../../harness/random.ts';
import { agentOf, type Content, detailed, empty, usageOf } from './call-attributes.ts';
import type { ExpectedEvent, ObservedSpan, ObservedTrace } from './observed-trace.ts';

interface Place {
  readonly above: ObservedSpan;
  readonly agentId: string | null;
  readonly parent?: ObservedSpan;
}

const startNs = 1_760_000_000_000_000_000n;

/** The kinds of traces, each with what programs with several instrumentations send. */
export const traceKinds = [
  'chain',
  'siblings',
  'traces',
  'equal',
  'equalTwice',
  'sum',
  'tools',
  'mcp',
  'failed',
] as const;

/**
 * Makes a trace of a program: a request, a run of an agent, often a run of an agent below it, and calls. The
 * thread and the user are named once, by different spans above.
 */
export function observeTrace(
  random: Random,
  kind: (typeof traceKinds)[number],
  number: number,
): ObservedTrace {
  return new Observation(random, number).run(kind);
}

class Observation {
  readonly #random: Random;
  readonly #number: number;
  readonly #traceId: string;
  readonly #threadId: string;
  readonly #userId: string;
  readonly #spans: ObservedSpan[] = [];
  readonly #events: ExpectedEvent[] = [];

  constructor(random: Random, number: number) {
    this.#random = random;
    this.#number = number;
    this.#traceId = random.uuid().replaceAll('-', '');
    this.#threadId = `thread-${number}`;
    this.#userId = `user-${number}`;
  }

  run(kind: (typeof traceKinds)[number]): ObservedTrace {
    const place = this.#addRun();
    const run: Record<typeof kind, () => void> = {
      chain: () => this.#addChain(place),
      siblings: () => this.#addSiblings(place),
      traces: () => this.#addInTwoTraces(place),
      equal: () => this.#addEqual(place),
      equalTwice: () => this.#addEqualTwice(place),
      sum: () => this.#addSum(place),
      tools: () => this.#addTools(place),
      mcp: () => this.#addMcp(place),
      failed: () => this.#addFailed(place),
    };
    run[kind]();
    return { spans: this.#spans, events: this.#events };
  }

  /** A request of a web server, a run of an agent, and a chain in it. */
  #addRun(): Place {
    const own = { 'user.id': this.#userId };
    const isOnRoot = this.#random.between(0, 1) === 0;
    const root = this.#add('server', undefined, { 'http.route': '/chat', ...(isOnRoot && own) });
    const agentId = this.#random.between(0, 5) === 0 ? null : `agent-${this.#number % 7}`;
    const thread = { 'gen_ai.conversation.id': this.#threadId, ...(!isOnRoot && own) };
    const run =
      agentId === null
        ? this.#add('framework', root, { 'openinference.span.kind': 'CHAIN', ...thread })
        : this.#add('framework', root, agentOf(agentId, thread));
    if (this.#random.between(0, 1) === 0) return { above: run, agentId };
    return { above: this.#add('framework', run, { 'openinference.span.kind': 'CHAIN' }), agentId };
  }

  /**
   * A detailed span, sometimes that of a gateway, the empty one of the client, and its HTTP request. A tool
   * may be below any.
   */
  #addChain(place: Place): void {
    const content = this.#content();
    const outer = this.#add('framework', place.above, detailed(content));
    const hasGateway = this.#random.between(0, 2) === 0;
    const gateway = hasGateway ? [this.#add('gateway', outer, { ...empty })] : [];
    const inner = this.#add('client', gateway[0] ?? outer, { ...empty });
    this.#add('http', inner, { 'http.request.method': 'POST' });
    this.#expect(place, [inner], { merged: [outer, ...gateway], content });
    if (this.#random.between(0, 1) === 0) this.#addTool({ ...place, above: outer, parent: inner });
  }

  /** Two libraries observe a call, with the same parent. */
  #addSiblings(place: Place): void {
    const content = this.#content();
    const outer = this.#add('framework', place.above, detailed(content), [0, 90]);
    const inner = this.#add('client', place.above, { ...empty, ...usageOf(content) }, [10, 80]);
    this.#expect(place, [inner], { merged: [outer], content });
  }

  /**
   * Two or three libraries observe each of three simultaneous equal calls, those of the client in traces of
   * their own.
   */
  #addInTwoTraces(place: Place): void {
    const content = this.#content();
    for (let call = 0; call < 3; call++) {
      const id = `msg_${this.#number}_${call}`;
      const raw = { 'output.value': JSON.stringify({ id, model: 'claude' }) };
      const outer = this.#add('framework', place.above, { ...detailed(content), ...raw }, [0, 90]);
      const traceId = this.#random.uuid().replaceAll('-', '');
      const hasGateway = this.#random.between(0, 2) === 0;
      const usage = { ...empty, ...usageOf(content) };
      const gateway = hasGateway ? [this.#add('gateway', undefined, usage, [5, 85], traceId)] : [];
      const withId = { ...usage, 'gen_ai.response.id': id };
      const inner = this.#add('client', gateway[0], withId, [10, 80], traceId);
      this.#expect(place, [outer], { merged: [inner, ...gateway], content });
    }
  }

  #addEqual(place: Place): void {
    const content = this.#content();
    for (let call = 0; call < 3; call++)
      this.#expect(place, [this.#add('framework', place.above, detailed(content))], { merged: [], content });
  }

  /**
   * Two libraries observe three simultaneous equal calls: which of their spans belong together is not known.
   */
  #addEqualTwice(place: Place): void {
    const content = this.#content();
    for (let call = 0; call < 3; call++) {
      this.#add('framework', place.above, detailed(content), [0, 90]);
      const inner = this.#add('client', place.above, { ...empty, ...usageOf(content) }, [10, 80]);
      this.#expect(place, [inner], { merged: undefined, content });
    }
  }

  /** A span above several calls is none. */
  #addSum(place: Place): void {
    const sum = this.#add('framework', place.above, detailed(this.#content()), [0, 90]);
    const calls = this.#random.between(2, 3);
    for (let call = 0; call < calls; call++) {
      const content = { ...this.#content(), prompt: `part ${call} of ${this.#number}` };
      const times = [10 + call * 20, 25 + call * 20] as const;
      const span = this.#add('client', sum, { ...detailed(content) }, times);
      this.#expect(place, [span], { merged: [], content });
    }
  }

  /** A call, then the tool that it asked for, which runs an agent of its own. */
  #addTools(place: Place): void {
    const content = this.#content();
    const call = this.#add('framework', place.above, detailed(content), [0, 20]);
    this.#expect(place, [call], { merged: [], content });
    const tool = this.#addTool(place);
    const agentId = `below-${this.#number % 5}`;
    const run = this.#add('framework', tool, agentOf(agentId, {}));
    this.#addChain({ above: run, agentId, parent: tool });
    this.#addTool({ above: run, agentId, parent: tool });
  }

  /** A tool call over MCP, in three processes; the server calls a model for it. */
  #addMcp(place: Place): void {
    const named = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
    const rpc = { ...named, 'mcp.method.name': 'tools/call' };
    const tool = this.#add('framework', place.above, { ...named, 'gen_ai.tool.call.id': 'call_1' });
    const client = this.#add('mcp', tool, rpc, [10, 90]);
    const server = this.#add('mcp', client, { ...rpc, 'fastmcp.server.name': 'weather' }, [20, 80]);
    this.#expect(place, [tool], { merged: [client, server], type: 'tool' });
    this.#addChain({ ...place, above: server, parent: tool });
  }

  #addFailed(place: Place): void {
    const span = this.#add('client', place.above, { ...empty });
    Object.assign(span.span, { status: { code: 2, message: 'Slow down.' } });
    this.#expect(place, [span], { merged: [], state: 'error' });
  }

  #addTool(place: Place): ObservedSpan {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'gen_ai.tool.call.arguments': `{"number":${this.#number}}`,
    };
    const span = this.#add('framework', place.above, attributes);
    this.#expect(place, [span], { merged: [], type: 'tool' });
    return span;
  }

  #content(): Content {
    const tokens = 10 + this.#random.between(0, 90);
    return { prompt: `question ${this.#number}`, response: `answer ${this.#number}`, tokens };
  }

  #add(
    library: string,
    above: ObservedSpan | undefined,
    attributes: Values,
    [fromMs, toMs]: readonly [number, number] = [0, 100],
    traceId = this.#traceId,
  ): ObservedSpan {
    const spanId = this.#random.uuid().replaceAll('-', '').slice(0, 16);
    const parent = above === undefined ? {} : { parentSpanId: above.span.spanId };
    const startMs = BigInt(this.#number * 1_000);
    const at = (ms: number) => startNs + (startMs + BigInt(ms)) * 1_000_000n;
    const span = { traceId, spanId, ...parent, startNs: at(fromMs), endNs: at(toMs), attributes };
    const observed = { span, library };
    this.#spans.push(observed);
    return observed;
  }

  #expect(
    { agentId, parent }: Place,
    spans: readonly ObservedSpan[],
    { content, ...given }: Pick<ExpectedEvent, 'merged'> & Partial<ExpectedEvent> & { content?: Content },
  ): void {
    this.#events.push({
      ...{ spans, parent, agentId, threadId: this.#threadId, userId: this.#userId, type: 'llm', state: 'ok' },
      prompt: content?.prompt ?? null,
      response: content?.response ?? null,
      inputTokens: content?.tokens ?? null,
      ...given,
    });
  }
}
