import { type KeptAttributes, keepAttributes } from './attributes.ts';
import { type ColumnName, type ColumnType, columnNames, columnTypes } from './columns.ts';
import type { IngestEvent } from './event.ts';
import { columnCharsMax } from './limits.ts';
import { inputPreview, outputPreview } from './previews.ts';
import { TermCollector, type TermColumn, termColumns } from './terms.ts';
import { cutText, quoteElement } from './text.ts';
import { priceClassOf } from './usage/price-class.ts';
import { reportedCostOf } from './usage/reported-cost.ts';
import { countTokens, type TokenCounts } from './usage/token-counts.ts';

/** The version of columns and terms. Increment it when `weir reproject` has to recompute stored events. */
export const projectionVersion = 3;

/** The columns of one or more events, each the inside of a Postgres array literal (weir.queue.v1.Columns). */
export type ColumnTexts = Record<ColumnName, string>;

const noColumns = Object.fromEntries(columnNames.map((name) => [name, ''])) as ColumnTexts;

type Value = string | number | undefined;

/** What columns are read from: an event, its index in its body, and what several columns share. */
interface Source {
  readonly index: number;
  readonly attributes: KeptAttributes | undefined;
  readonly tokens: TokenCounts | undefined;
  readonly priceClass?: string;
  readonly reportedCost?: string | undefined;
}

type ReadColumn = (event: IngestEvent, source: Source) => Value;

const projections: Record<ColumnName, ReadColumn> = {
  id: (event) => event.id.toLowerCase(),
  segmentIndex: (_event, { index }) => index,
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
  inputTokens: (_event, { tokens }) => tokens?.inputTokens,
  outputTokens: (_event, { tokens }) => tokens?.outputTokens,
  totalTokens: (_event, { tokens }) => tokens?.totalTokens,
  errorCode: (event) => scalar(event.status.error?.code),
  errorHttpStatus: (event) => scalar(event.status.error?.httpStatus),
  errorMessage: (event) => event.status.error?.message,
  inputPreview,
  outputPreview,
  attributes: (_event, { attributes }) => attributes?.json,
  cacheReadTokens: (_event, { tokens }) => tokens?.cacheReadTokens,
  cacheWriteTokens: (_event, { tokens }) => tokens?.cacheWriteTokens,
  reasoningTokens: (_event, { tokens }) => tokens?.reasoningTokens,
  usageParts: (_event, { tokens }) => tokens?.parts && JSON.stringify(tokens.parts),
  priceClass: (_event, { priceClass }) => priceClass || undefined,
  reportedCost: (_event, { reportedCost }) => reportedCost,
};

/** The part of a queue message that is computed from the events of a request body. */
export interface Projection {
  readonly eventCount: number;
  readonly columns: ColumnTexts;
  /** Distinct (terms.ts), before `inSpace`. */
  readonly terms: readonly bigint[];
}

/** Projects the columns of one request body, event by event (ADR 0001). */
export class Projector {
  readonly #columns: readonly ColumnBuilder[];
  readonly #terms = new TermCollector();
  #eventCount = 0;

  /** @param names the columns that are projected, those of terms among them; the others are left empty. */
  constructor(names: readonly ColumnName[] = columnNames) {
    this.#columns = names.map((name) => new ColumnBuilder(name));
  }

  add(event: IngestEvent): void {
    const attributes = keepAttributes(event.additionalProperties);
    const source: Source = { index: this.#eventCount, attributes, ...measureCall(event) };
    const isError = event.status.state === 'error';
    for (const column of this.#columns) {
      const value = column.add(event, source);
      if (column.termName !== undefined && value !== undefined) {
        this.#terms.addColumn(column.termName, String(value), isError);
      }
    }
    // Object.entries would allocate an array for each entry.
    for (const key in attributes?.entries) {
      this.#terms.addAttribute(key, String(attributes.entries[key]), isError);
    }
    this.#eventCount += 1;
  }

  finish(): Projection {
    const columns = { ...noColumns };
    for (const column of this.#columns) columns[column.name] = column.finish();
    return {
      eventCount: this.#eventCount,
      columns,
      terms: this.#terms.finish(),
    };
  }
}

function measureCall(event: IngestEvent): Omit<Source, 'index' | 'attributes'> {
  if (event.type === 'tool') return { tokens: undefined };
  const { llm } = event.properties;
  const tokens = llm.usage && countTokens(llm.usage);
  const reportedCost = reportedCostOf(llm.cost);
  const priceClass = priceClassOf(llm, { ...tokens, isReported: reportedCost !== undefined });
  return { tokens, priceClass, reportedCost };
}

export function projectEvents(events: readonly IngestEvent[]): Projection {
  const projector = new Projector();
  for (const event of events) projector.add(event);
  return projector.finish();
}

/** Computes only the terms, and the columns that they are made of. */
export function projectTerms(events: readonly IngestEvent[]): readonly bigint[] {
  const projector = new Projector(termColumns);
  for (const event of events) projector.add(event);
  return projector.finish().terms;
}

const termNames: Partial<Record<ColumnName, TermColumn>> = Object.fromEntries(
  termColumns.map((name) => [name, name]),
);

class ColumnBuilder {
  readonly name: ColumnName;
  /** The column's name, if its values are terms. */
  readonly termName: TermColumn | undefined;
  readonly #project: ReadColumn;
  readonly #type: ColumnType;
  readonly #elements: (string | number)[] = [];
  // Consecutive events share most values (thread, user, model). Quoting each again would double the work.
  #lastText = '';
  #lastElement = '""';

  constructor(name: ColumnName) {
    this.name = name;
    this.termName = termNames[name];
    this.#project = projections[name];
    this.#type = columnTypes[name];
  }

  add(event: IngestEvent, source: Source): Value {
    const value = this.#project(event, source);
    if (value === undefined) this.#elements.push('NULL');
    else if (typeof value === 'number') this.#elements.push(value);
    else this.#elements.push(value === this.#lastText ? this.#lastElement : this.#quote(value));
    return value;
  }

  finish(): string {
    return this.#elements.join(',');
  }

  #quote(text: string): string {
    // A validated UUID needs no quotes.
    if (this.#type === 'uuid') return text;
    this.#lastText = text;
    this.#lastElement = quoteElement(this.#type === 'text' ? cutText(text, columnCharsMax) : text);
    return this.#lastElement;
  }
}

/** A start of which a minute's part underflows is stored as 0: Postgres would reject the quotient. */
function divisibleTime(timeMs: number): number {
  return timeMs / 60_000 === 0 ? 0 : timeMs;
}

function scalar(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
