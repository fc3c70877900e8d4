import { isUtf8 } from 'node:buffer';
import { IngestError } from '../../../../event/errors.ts';
import { parseExactJson } from '../../../../event/json/exact-json.ts';
import type { Json } from '../../../../event/json/json-value.ts';
import type { Range } from '../../../../event/json/scan.ts';
import { jsonDepthMax } from '../../../../platform/limits.ts';
import { CostlyBatchError, type ReadLimits } from '../../read/batch-reader.ts';
import { parseBody, withoutBom } from '../../read/parse-body.ts';
import { spanValuesMax } from '../limits.ts';
import { asList, asObject, malformed } from './json-fields.ts';
import { readJsonSource, readJsonSpan } from './json-span.ts';
import { type ListNames, type LocatedSpans, locateJsonSpans } from './locate-json-spans.ts';
import { type RecordRequest, type SpanRequest, type SpanSource, UnstorableError } from './span.ts';

/**
 * Opens an ExportTraceServiceRequest in OTLP/JSON. Its spans are located in the bytes and parsed one by one
 * on access: parsed as a whole, 16 MiB can take a gigabyte.
 * @throws IngestError `invalid_request_body`, or `batch_too_large` when there are too many spans.
 * @throws CostlyBatchError
 */
export function openJsonSpans(bytes: Buffer, limits: ReadLimits): SpanRequest {
  return openJsonRecords(bytes, limits, { names: spanNames, readRecord: readJsonSpan });
}

/** The names of the lists around the records. */
const spanNames: ListNames = { resources: 'resourceSpans', scopes: 'scopeSpans', records: 'spans' };

/** Opens a request with records of another kind in the same structure. Throws what `openJsonSpans` throws. */
export function openJsonRecords<T>(
  sent: Buffer,
  limits: ReadLimits,
  { names, readRecord }: { names: ListNames; readRecord: (json: Json) => T },
): RecordRequest<T> {
  const bytes = withoutBom(sent);
  if (bytes.length === 0) throw new IngestError('invalid_request_body', 'The request body is missing.');
  if (!isUtf8(bytes)) throw new IngestError('invalid_request_body', 'The request body is not valid UTF-8.');
  const located = locate(bytes, limits.valuesMax, names);
  if (located.spans.length > limits.recordsMax) throw new CostlyBatchError();
  const spans = findSpansOf(parse(textAround(bytes, located.spans), located.hasEscapedKey), names);
  const sources = new Map<Json, SpanSource>();
  const at = (index: number) => {
    const span = spans[index];
    if (span === undefined) throw new Error(`there is no span ${index}`);
    return span;
  };
  const rangeOf = (index: number) => located.spans[at(index).number] ?? noSpan;
  return {
    count: spans.length,
    bytesOf: (index) => rangeOf(index).end - rangeOf(index).start,
    read: (index) => {
      const { start, end, values, hasEscapedKey } = rangeOf(index);
      if (values > spanValuesMax) throw new CostlyBatchError();
      return readRecord(parse(bytes.toString('utf8', start, end), hasEscapedKey));
    },
    readSource: (index) => {
      const { resourceSpans, scopeSpans } = at(index);
      const source = sources.get(scopeSpans) ?? readJsonSource(resourceSpans, scopeSpans);
      sources.set(scopeSpans, source);
      return source;
    },
  };
}

function locate(bytes: Buffer, valuesMax: number, names: ListNames): LocatedSpans {
  try {
    return locateJsonSpans(bytes, valuesMax, names);
  } catch (error) {
    if (error instanceof IngestError || error instanceof CostlyBatchError) throw error;
    // The scanner has no error positions. Parse small bodies as a whole, whose error has one.
    if (bytes.length <= explainedBytesMax) parseBody(bytes);
    throw new IngestError(
      'invalid_request_body',
      `The request body is not valid JSON, or is nested deeper than ${jsonDepthMax} levels.`,
      { cause: error },
    );
  }
}

/** Stands for a span that was not located. */
const noSpan = { start: 0, end: 0, values: 0, hasEscapedKey: false };

/** Largest invalid body that is parsed as a whole to find the position of the error. */
const explainedBytesMax = 64 * 1024;

function parse(text: string, hasEscapedKey: boolean): Json {
  try {
    return parseExactJson(text, hasEscapedKey);
  } catch (error) {
    throw new IngestError('invalid_request_body', 'The request body is not valid JSON.', { cause: error });
  }
}

/**
 * The body with each span replaced by its index among the located spans. This text and every span are valid
 * JSON if and only if the whole body is: a value may stand wherever another value stands.
 */
function textAround(bytes: Buffer, spans: readonly Range[]): string {
  let text = '';
  let end = 0;
  for (const [number, span] of spans.entries()) {
    text += `${bytes.toString('utf8', end, span.start)}${number}`;
    end = span.end;
  }
  return text + bytes.toString('utf8', end);
}

interface FoundSpan {
  readonly number: number;
  readonly resourceSpans: Json;
  readonly scopeSpans: Json;
}

/** @throws IngestError `invalid_request_body` when the lists around the spans are none. */
function findSpansOf(body: Json, names: ListNames): FoundSpan[] {
  try {
    return findSpans(body, names);
  } catch (error) {
    if (!(error instanceof UnstorableError)) throw error;
    throw new IngestError('invalid_request_body', error.message, { cause: error });
  }
}

/** The spans that are in the parsed body: of duplicate keys, JSON.parse keeps only the last one. */
function findSpans(body: Json, names: ListNames): FoundSpan[] {
  const found: FoundSpan[] = [];
  if (body === null) throw malformed('the body', 'an object');
  for (const resourceSpans of asList(asObject(body, 'the body')[names.resources], names.resources)) {
    const scopes = asObject(resourceSpans, names.resources)[names.scopes];
    for (const scopeSpans of asList(scopes, names.scopes)) {
      for (const number of asList(asObject(scopeSpans, names.scopes)[names.records], names.records)) {
        found.push({ number: Number(number), resourceSpans, scopeSpans });
      }
    }
  }
  return found;
}
