import { attributesCharsMax, columnCharsMax, previewCharsMax } from '../limits.ts';
import { type ColumnName, type ColumnType, columnNames, columnTypes } from './columns.ts';
import type { IngestEvent, LlmPayload } from './event.ts';
import { cutText, quoteElement, storableText } from './text.ts';

/** The columns of one or more events, each the inside of a Postgres array literal (weir.queue.v1.Columns). */
export type ColumnTexts = Record<ColumnName, string>;

type Value = string | number | undefined;

/** How each column is read from an event, the `index`-th of its body. */
const projections: Record<ColumnName, (event: IngestEvent, index: number) => Value> = {
  id: (event) => event.id.toLowerCase(),
  segmentIndex: (_event, index) => index,
  type: (event) => event.type,
  state: (event) => event.status.state,
  name: (event) => (event.type === 'llm' ? event.properties.llm.model : scalar(event.properties.tool.name)),
  source: (event) => event.instrumentation.source,
  traceId: (event) => event.traceId?.toLowerCase(),
  threadId: (event) => event.context.threadId,
  agentId: (event) => event.context.agentId,
  agentGroupId: (event) => event.context.agentGroupId,
  userId: (event) => event.context.userId,
  startTimeMs: (event) => divisibleTime(event.startTimeMs),
  endTimeMs: (event) => event.endTimeMs,
  durationMs: (event) => event.durationMs,
  inputTokens: (event) => usage(event)?.inputTokens,
  outputTokens: (event) => usage(event)?.outputTokens,
  totalTokens: (event) => usage(event)?.totalTokens,
  errorCode: (event) => scalar(event.status.error?.code),
  errorHttpStatus: (event) => scalar(event.status.error?.httpStatus),
  errorMessage: (event) => event.status.error?.message,
  inputPreview: (event) => preview(input(event)),
  outputPreview: (event) => preview(output(event)),
  attributes: (event) => attributes(event.additionalProperties),
};

/** What goes on of the events of a request body, when they themselves are let go. */
export interface Projection {
  readonly eventCount: number;
  readonly columns: ColumnTexts;
}

/** Projects the indexed columns of the events of one request body (design §1.1), event by event. */
export class Projector {
  readonly #columns = columnNames.map((name) => new ColumnBuilder(projections[name], columnTypes[name]));
  #eventCount = 0;

  add(event: IngestEvent): void {
    for (const column of this.#columns) column.add(event, this.#eventCount);
    this.#eventCount += 1;
  }

  finish(): Projection {
    const entries = columnNames.map((name, index) => [name, this.#columns[index]?.finish()]);
    return { eventCount: this.#eventCount, columns: Object.fromEntries(entries) as ColumnTexts };
  }
}

export function projectEvents(events: readonly IngestEvent[]): Projection {
  const projector = new Projector();
  for (const event of events) projector.add(event);
  return projector.finish();
}

/** The elements of one column. */
class ColumnBuilder {
  readonly #project: (event: IngestEvent, index: number) => Value;
  readonly #type: ColumnType;
  readonly #elements: (string | number)[] = [];
  // Neighbours share most of their values (a thread, a user, a model): quoting each again would be half of the work.
  #lastText = '';
  #lastElement = '""';

  constructor(project: (event: IngestEvent, index: number) => Value, type: ColumnType) {
    this.#project = project;
    this.#type = type;
  }

  add(event: IngestEvent, index: number): void {
    const value = this.#project(event, index);
    if (value === undefined) this.#elements.push('NULL');
    else if (typeof value === 'number') this.#elements.push(value);
    else this.#elements.push(value === this.#lastText ? this.#lastElement : this.#quote(value));
  }

  finish(): string {
    return this.#elements.join(',');
  }

  #quote(text: string): string {
    // A UUID has been validated to have nothing to quote.
    if (this.#type === 'uuid') return text;
    this.#lastText = text;
    this.#lastElement = quoteElement(this.#type === 'text' ? cutText(text, columnCharsMax) : text);
    return this.#lastElement;
  }
}

/**
 * The statistics divide a start by a minute, and Postgres refuses a quotient that is too small to be a number: then the
 * event would be in quarantine. A start so near to 0 is 0.
 */
function divisibleTime(timeMs: number): number {
  return timeMs / 60_000 === 0 ? 0 : timeMs;
}

function usage(event: IngestEvent): LlmPayload['usage'] {
  return event.type === 'llm' ? event.properties.llm.usage : undefined;
}

function input(event: IngestEvent): unknown {
  return event.type === 'llm' ? event.properties.llm.input?.prompt : event.properties.tool.input;
}

function output(event: IngestEvent): unknown {
  if (event.type === 'tool') return event.properties.tool.output;
  const { response, toolCalls } = event.properties.llm.output ?? {};
  // A model that calls tools often says nothing: then the calls are what it answered.
  return response || (toolCalls?.length ? toolCalls : response);
}

function preview(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return cutText(typeof value === 'string' ? value : JSON.stringify(value), previewCharsMax);
}

function scalar(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function attributes(properties: IngestEvent['additionalProperties']): string | undefined {
  const json = JSON.stringify(properties);
  if (json === '{}' || json.length > attributesCharsMax) return undefined;
  // JSON escapes what Postgres refuses in JSON, U+0000 and lone surrogates, so an escape is where to look closer.
  return json.includes('\\u') ? JSON.stringify(storableEntries(properties)) : json;
}

function storableEntries(
  properties: IngestEvent['additionalProperties'],
): IngestEvent['additionalProperties'] {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      storableText(key),
      typeof value === 'string' ? storableText(value) : value,
    ]),
  );
}
