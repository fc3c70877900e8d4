import type { IngestEvent } from '../../../../event/event.ts';
import { isDeeperThan } from '../../../../event/json/depth.ts';
import { stringifyExact } from '../../../../event/json/exact-json.ts';
import { bodyBytesMax, jsonDepthMax } from '../../../../platform/limits.ts';
import { mergeEvents, type OtherEvent } from '../../../../store/traces/merge/merge-events.ts';
import { groupCalls } from '../../../../store/traces/merge/same-calls.ts';
import { shortenEvent } from '../../../../store/traces/merge/shorten-event.ts';
import { type SpanNode, SpanTree } from '../../../../store/traces/span-tree.ts';
import { encodeNodes } from '../../../../store/traces/trace-node.ts';
import { CostlyBatchError } from '../../read/batch-reader.ts';
import { type Call, type CallTraits, describeCall, readCallTraits } from '../calls/call-traits.ts';
import { scopeOf, withStreamTimes } from '../calls/stream-log.ts';
import { toolKeysOf } from '../calls/tool-keys.ts';
import { eventsBytesMax, sourceCharsMax, spanBytesMax } from '../limits.ts';
import type { JsonObject } from '../mapping/json-object.ts';
import { nodeKindOf } from '../mapping/node-kind.ts';
import { mapSource } from '../mapping/otel-rest.ts';
import { findRole, type Role } from '../mapping/role.ts';
import { readContext } from '../mapping/span-context.ts';
import { toEvent } from '../mapping/span-to-event.ts';
import { type Span, type SpanRequest, type SpanSource, UnstorableError } from '../spans/span.ts';
import { NodeBuilder } from './node-builder.ts';
import { eventBytesMax, PartBuilder } from './part-builder.ts';
import type { SpanBatch } from './span-batch.ts';
import { SpanTally } from './span-tally.ts';

interface MappingOptions {
  vendor: string;
  isEvent: (value: unknown) => value is IngestEvent;
  /** Whether no other reader has higher limits: a span that is too costly is then rejected. */
  isUnlimited: boolean;
  /** Whether the spans stand for log records: each has content of the span above it, or is a call without one. */
  isLogs: boolean;
}

/** Exporters send 512. */
const spansHeldMax = 1_024;

/** A span's position in its request and in its trace. */
interface Candidate extends SpanNode {
  readonly index: number;
  readonly role: Role;
  /** The name of the library that created the span. */
  readonly scope: string;
}

/** Maps one request. Each span is needed twice: its role depends on the other spans. */
export class SpanMapping {
  readonly #request: SpanRequest;
  readonly #options: MappingOptions;
  readonly #tally: SpanTally;
  /** The JSON of each source; undefined when it is too large. */
  readonly #sources = new Map<SpanSource, JsonObject | undefined>();
  readonly #parts = new PartBuilder();
  readonly #nodes = new NodeBuilder();
  /** The first spans. Holding all of them takes memory: the others are read again. */
  readonly #held: Span[] = [];
  #madeBytes = 0;

  constructor(request: SpanRequest, options: MappingOptions) {
    this.#request = request;
    this.#tally = new SpanTally(request);
    this.#options = options;
  }

  run(): SpanBatch {
    const candidates = this.#readCandidates();
    const tree = new SpanTree(candidates);
    const calls = this.#countRoles(candidates, tree);
    const groups = [...this.#groupCalls(calls.llm), ...calls.tool];
    // Sort by the order of the request.
    groups.sort(([a], [b]) => (a?.innermost.index ?? 0) - (b?.innermost.index ?? 0));
    for (const group of groups) {
      const index = group[0]?.innermost.index ?? 0;
      this.#attempt(index, () => this.#addCall(group, tree));
    }
    const nodes = encodeNodes(this.#nodes.finish((node) => tree.contextOf(node)));
    const { counts, rejection } = this.#tally;
    return { parts: this.#parts.finish(), nodes, counts, senders: this.#tally.senders(), rejection };
  }

  /** Counts the spans that do not become events. */
  #countRoles(candidates: readonly Candidate[], tree: SpanTree<Candidate>) {
    const llm: Call<Candidate>[] = [];
    const tools = new Map<Candidate, Candidate[]>();
    for (const candidate of candidates) {
      const outcome = tree.outcomeOf(candidate);
      const { role } = candidate;
      if (outcome === 'call') llm.push({ innermost: candidate, outer: tree.outerOf(candidate) });
      else if (outcome === 'aggregate') this.#tally.filter(candidate.index, 'aggregate');
      // Spans that are merged are counted with their call.
      else if (outcome === 'merged') continue;
      else if (role.kind === 'tool' || role.kind === 'llm') {
        const call = role.kind === 'tool' ? tree.toolCallOf(candidate) : candidate;
        const others = tools.get(call) ?? [];
        tools.set(call, others);
        if (call !== candidate) others.push(candidate);
      } else this.#tally.filter(candidate.index, 'reason' in role ? role.reason : 'agent');
    }
    return { llm, tool: Array.from(tools, ([innermost, outer]) => [{ innermost, outer }]) };
  }

  /**
   * A library creates one span for each call, so only spans of several libraries can describe one call: most requests have one,
   * and their responses need not be parsed for an id.
   */
  #groupCalls(calls: readonly Call<Candidate>[]): (readonly Call<Candidate>[])[] {
    const scopes = new Set(
      calls.flatMap(({ innermost, outer }) => [innermost, ...outer]).map(({ scope }) => scope),
    );
    if (scopes.size < 2) return calls.map((call) => [call]);
    const traits = new Map<Candidate, CallTraits>();
    const readable: Call<Candidate>[] = [];
    const unreadable: Call<Candidate>[] = [];
    for (const call of calls) {
      try {
        for (const one of [call.innermost, ...call.outer]) traits.set(one, this.#readTraits(one));
        readable.push(call);
      } catch (error) {
        // It is rejected when its event is made.
        if (!(error instanceof UnstorableError)) throw error;
        unreadable.push(call);
      }
    }
    const traitsOf = (candidate: Candidate) => {
      const found = traits.get(candidate);
      if (found === undefined) throw new Error('an LLM span has no traits');
      return found;
    };
    const groups = groupCalls(readable.map((call) => describeCall(call, traitsOf)));
    return [...groups.map((group) => group.map(({ call }) => call)), ...unreadable.map((call) => [call])];
  }

  #readTraits({ index, role, scope }: Candidate): CallTraits {
    if (role.kind !== 'llm') throw new Error(`a span of kind ${role.kind} has no traits`);
    return readCallTraits(this.#readSpan(index), role.by, scope);
  }

  #readSpan(index: number): Span {
    const span = this.#held[index] ?? withStreamTimes(this.#request.readSpan(index));
    if (index < spansHeldMax) this.#held[index] = span;
    return span;
  }

  #readCandidates(): Candidate[] {
    const candidates: Candidate[] = [];
    for (let index = 0; index < this.#request.count; index++) {
      this.#attempt(index, () => {
        const span = this.#readSpan(index);
        const { traceId, spanId, parentSpanId } = span;
        const role = findRole(span);
        const isContent = this.#options.isLogs && parentSpanId !== '';
        const kind = isContent ? 'log' : nodeKindOf(span.attributes, role);
        const context = readContext(span, role);
        const isCall = role.kind === 'llm' || role.kind === 'tool';
        const scope = isCall ? scopeOf(span, this.#request.readSource(index).scope.name) : '';
        const keys = role.kind === 'tool' ? toolKeysOf(span, role.by, scope) : {};
        const candidate = { index, traceId, spanId, parentSpanId, role, kind, context, scope, ...keys };
        candidates.push(candidate);
        this.#nodes.add(candidate, span);
      });
    }
    return candidates;
  }

  /** Makes one event from all spans of a call. */
  #addCall([call, ...same]: readonly Call<Candidate>[], tree: SpanTree<Candidate>): void {
    if (call === undefined) return;
    const others = [...call.outer, ...same.flatMap(({ innermost, outer }) => [innermost, ...outer])];
    const event = this.#readEvent(call.innermost, tree);
    const merged: OtherEvent[] = [];
    for (const other of others) {
      // A span that cannot be stored does not stop the others of its call.
      this.#attempt(other.index, () => {
        const part = this.#readEvent(other, tree);
        merged.push({ event: part, spanId: other.spanId });
        this.#nodes.setTraits(other, part);
        this.#tally.filter(other.index, 'merged');
      });
    }
    this.#nodes.setTraits(call.innermost, event);
    const whole = mergeEvents(event, merged);
    this.#addToPart(whole);
    this.#tally.store(call.innermost.index);
    this.#nodes.setEvent(call.innermost, whole, others);
  }

  #readEvent(candidate: Candidate, tree: SpanTree<Candidate>): JsonObject {
    const { index, role } = candidate;
    if (role.kind !== 'llm' && role.kind !== 'tool')
      throw new Error(`a span of kind ${role.kind} is no event`);
    if (this.#madeBytes > eventsBytesMax)
      throw new UnstorableError('The events of the request are too large in total.');
    if (this.#request.bytesOf(index) > spanBytesMax) throw tooLarge();
    const source = this.#request.readSource(index);
    return toEvent(this.#readSpan(index), {
      vendor: this.#options.vendor,
      role,
      source,
      sourceJson: this.#mapSource(source),
      parentSpanId: tree.parentEventOf(candidate),
      context: tree.contextOf(candidate),
    });
  }

  #addToPart(event: JsonObject): void {
    // The body and its array are two levels around the event.
    if (!this.#options.isEvent(event) || isDeeperThan(event, jsonDepthMax - 2)) {
      throw new UnstorableError('A span cannot be mapped to a valid event.');
    }
    let json = stringifyExact(event);
    let bytes = Buffer.byteLength(json);
    if (bytes > eventBytesMax) {
      shortenEvent(event, eventBytesMax);
      json = stringifyExact(event);
      bytes = Buffer.byteLength(json);
    }
    this.#madeBytes += bytes;
    if (bytes > eventBytesMax) throw tooLarge();
    this.#parts.add(event, json, bytes);
  }

  #mapSource(source: SpanSource): JsonObject {
    if (!this.#sources.has(source)) {
      const json = mapSource(source);
      const isLarge = JSON.stringify(json).length > sourceCharsMax;
      this.#sources.set(source, isLarge ? undefined : json);
    }
    const json = this.#sources.get(source);
    if (json !== undefined) return json;
    throw new UnstorableError(`A resource and its scope have more than ${sourceCharsMax} characters.`);
  }

  /** Runs a step for one span. A span that cannot be stored is counted, and does not stop the others. */
  #attempt(index: number, step: () => void): void {
    try {
      step();
    } catch (error) {
      const isTooCostlyAlone = error instanceof CostlyBatchError && this.#options.isUnlimited;
      if (!(error instanceof UnstorableError) && !isTooCostlyAlone) throw error;
      this.#tally.reject(index, isTooCostlyAlone ? 'A span has too many values.' : (error as Error).message);
    }
  }
}

function tooLarge(): UnstorableError {
  return new UnstorableError(`The event of a span is larger than ${bodyBytesMax} bytes (4 MiB).`);
}
