import type { IngestEvent } from '../../../../event/event.ts';
import { isDeeperThan } from '../../../../event/json/depth.ts';
import { parseExactJson, stringifyExact } from '../../../../event/json/exact-json.ts';
import type { JsonObject } from '../../../../event/json/json-value.ts';
import { bodyBytesMax, jsonDepthMax } from '../../../../platform/limits.ts';
import { encodeNotes, type SentNote } from '../../../../store/notes/evaluation-notes.ts';
import { shortenEvent } from '../../../../store/traces/merge/shorten-event.ts';
import { type SpanNode, SpanTree } from '../../../../store/traces/span-tree.ts';
import { encodeNodes } from '../../../../store/traces/trace-node.ts';
import { CostlyBatchError } from '../../read/batch-reader.ts';
import { scopeOf, withStreamTimes } from '../calls/stream-log.ts';
import { toolKeysOf } from '../calls/tool-keys.ts';
import { eventsBytesMax, sourceCharsMax, spanBytesMax } from '../limits.ts';
import { evaluationName, toEvaluationNote } from '../logs/evaluation.ts';
import { AttributeReader } from '../mapping/attribute-reader.ts';
import { toInnerEvents } from '../mapping/inner-events.ts';
import { nodeKindOf } from '../mapping/node-kind.ts';
import { mapSource } from '../mapping/otel-rest.ts';
import { RepeatedValues } from '../mapping/repeated-values.ts';
import { findRole, type Role } from '../mapping/role.ts';
import { readContext } from '../mapping/span-context.ts';
import { toEvent } from '../mapping/span-to-event.ts';
import { type Span, type SpanRequest, type SpanSource, UnstorableError } from '../spans/span.ts';
import { NodeBuilder } from './node-builder.ts';
import { charBytesMax, eventBytesMax, PartBuilder } from './part-builder.ts';
import type { SpanBatch } from './span-batch.ts';
import { SpanTally } from './span-tally.ts';

interface MappingOptions {
  vendor: string;
  isEvent: (value: unknown) => value is IngestEvent;
  /** Whether no other reader has higher limits: a span that is too costly is then rejected. */
  isUnlimited: boolean;
  /**
   * Whether the spans stand for log records: each has content of the span above it, or is a call without one.
   */
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

interface HeldSpan {
  readonly span: Span;
  readonly role: Role;
  readonly reader: AttributeReader;
}

/** Maps one request. Each span is needed twice: its role depends on the other spans. */
export class SpanMapping {
  readonly #request: SpanRequest;
  readonly #options: MappingOptions;
  readonly #tally: SpanTally;
  /** The JSON of each source; undefined when it is too large. */
  readonly #sources = new Map<SpanSource, JsonObject | undefined>();
  readonly #repeated = new RepeatedValues();
  readonly #parts = new PartBuilder();
  readonly #nodes = new NodeBuilder();
  /** The first spans. Holding all of them takes memory: the others are read again. */
  readonly #held: (HeldSpan | undefined)[] = [];
  readonly #notes: SentNote[] = [];
  #madeBytes = 0;

  constructor(request: SpanRequest, options: MappingOptions) {
    this.#request = request;
    this.#tally = new SpanTally(request);
    this.#options = options;
  }

  run(): SpanBatch {
    const candidates = this.#readCandidates();
    const tree = new SpanTree(candidates);
    for (const candidate of candidates) this.#attempt(candidate.index, () => this.#addSpan(candidate, tree));
    const nodes = encodeNodes(this.#nodes.finish((node) => tree.contextOf(node)));
    const { counts, rejection } = this.#tally;
    const notes = encodeNotes([...(this.#request.evaluations ?? []), ...this.#notes]);
    return { parts: this.#parts.finish(), nodes, notes, counts, senders: this.#tally.senders(), rejection };
  }

  /**
   * Makes the event of a span, also of one that describes the call of another, or the sum of several: a
   * retry may be cut in another way. The writer merges them (ADR 27).
   */
  #addSpan(candidate: Candidate, tree: SpanTree<Candidate>): void {
    const { index, role } = candidate;
    this.#addEvaluations(candidate);
    if (role.kind !== 'llm' && role.kind !== 'tool') {
      this.#tally.filter(index, role.kind === 'none' ? role.reason : 'agent');
      return;
    }
    const event = this.#readEvent(candidate, role, tree);
    this.#addToPart(event);
    const outcome = tree.outcomeOf(candidate);
    const isMerged = outcome === 'merged' || tree.toolCallOf(candidate) !== candidate;
    const reason = outcome === 'aggregate' ? outcome : isMerged ? 'merged' : undefined;
    if (reason === undefined) this.#tally.store(index);
    else this.#tally.filter(index, reason);
    const { span } = this.#readSpan(index);
    this.#nodes.setEvent(candidate, span, { event, isSurplus: reason !== undefined });
    if (role.kind === 'llm') this.#addInnerCalls(candidate, span, event);
    // What was decoded is needed no more.
    this.#held[index] = undefined;
  }

  /**
   * Makes events of the calls of other models within a call. For the trace each is a span below that of the
   * call.
   */
  #addInnerCalls(candidate: Candidate, span: Span, event: JsonObject): void {
    for (const { spanId, event: inner } of toInnerEvents(event, span)) {
      this.#addToPart(inner);
      const node = { ...candidate, kind: 'link' as const, context: {}, spanId, parentSpanId: span.spanId };
      this.#nodes.add(node, span);
      this.#nodes.setEvent(node, span, { event: inner, isSurplus: false });
    }
  }

  /** The results of evaluations among the events of a call or an agent. */
  #addEvaluations({ index, role }: Candidate): void {
    if (role.kind === 'none' || this.#options.isLogs) return;
    const { span } = this.#readSpan(index);
    for (const { name, timeNs, attributes } of span.readEvents()) {
      const { traceId, spanId } = span;
      const note =
        name === evaluationName ? toEvaluationNote({ traceId, spanId, timeNs, attributes }) : undefined;
      if (note !== undefined) this.#notes.push(note);
    }
  }

  #readSpan(index: number): HeldSpan {
    const known = this.#held[index];
    if (known !== undefined) return known;
    const span = withStreamTimes(this.#request.read(index));
    const role = findRole(span);
    const by = 'by' in role ? role.by : 'genAi';
    const held = { span, role, reader: new AttributeReader(span.attributes, by, this.#repeated) };
    if (index < spansHeldMax) this.#held[index] = held;
    return held;
  }

  #readCandidates(): Candidate[] {
    const candidates: Candidate[] = [];
    for (let index = 0; index < this.#request.count; index++) {
      this.#attempt(index, () => {
        const { span, role, reader } = this.#readSpan(index);
        const { traceId, spanId, parentSpanId } = span;
        const isContent = this.#options.isLogs && parentSpanId !== '';
        const kind = isContent ? 'log' : nodeKindOf(span.attributes, role);
        const context = readContext(span, role, reader);
        const isCall = role.kind === 'llm' || role.kind === 'tool';
        const scope = isCall ? scopeOf(span, this.#request.readSource(index).scope.name) : '';
        const keys = role.kind === 'tool' ? toolKeysOf(span, reader, scope) : {};
        const candidate = { index, traceId, spanId, parentSpanId, role, kind, context, scope, ...keys };
        candidates.push(candidate);
        this.#nodes.add(candidate, span);
      });
    }
    return candidates;
  }

  #readEvent(
    candidate: Candidate,
    role: Extract<Role, { kind: 'llm' | 'tool' }>,
    tree: SpanTree<Candidate>,
  ): JsonObject {
    const { index } = candidate;
    if (this.#madeBytes > eventsBytesMax)
      throw new UnstorableError('The events of the request are too large in total.');
    if (this.#request.bytesOf(index) > spanBytesMax) throw tooLarge();
    const source = this.#request.readSource(index);
    const { span, reader } = this.#readSpan(index);
    return toEvent(span, {
      vendor: this.#options.vendor,
      role,
      source,
      sourceJson: this.#mapSource(source),
      parentSpanId: tree.parentEventOf(candidate),
      context: tree.contextOf(candidate),
      reader,
    });
  }

  #addToPart(event: JsonObject): void {
    // The body and its array are two levels around the event.
    if (!this.#options.isEvent(event) || isDeeperThan(event, jsonDepthMax - 2)) {
      throw new UnstorableError('A span cannot be mapped to a valid event.');
    }
    let stored: IngestEvent = event;
    let json = stringifyExact(event, this.#repeated.written);
    if (isTooLong(json)) {
      // A copy: events share what the request repeats.
      const copy = parseExactJson(json, true) as JsonObject;
      shortenEvent(copy, eventBytesMax);
      json = stringifyExact(copy);
      stored = copy as unknown as IngestEvent;
    }
    this.#madeBytes += isTooLong(json) ? Buffer.byteLength(json) : this.#parts.add(stored, json);
    if (isTooLong(json)) throw tooLarge();
  }

  #mapSource(source: SpanSource): JsonObject {
    if (!this.#sources.has(source)) {
      const json = mapSource(source);
      const isLarge = JSON.stringify(json).length > sourceCharsMax;
      for (const shared of Object.values(json)) this.#repeated.share(shared as object);
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

/** Counts the bytes only if there may be too many. */
function isTooLong(json: string): boolean {
  return charBytesMax * json.length > eventBytesMax && Buffer.byteLength(json) > eventBytesMax;
}

function tooLarge(): UnstorableError {
  return new UnstorableError(`The event of a span is larger than ${bodyBytesMax} bytes (4 MiB).`);
}
