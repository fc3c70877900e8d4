import { IngestError } from '../../../../event/errors.ts';
import {
  isEscaped,
  isKey,
  newScanState,
  noteEscapedKey,
  type Range,
  skipSpace,
  skipValue,
  walkArray,
  walkObject,
} from '../../../../event/json/scan.ts';
import { CostlyBatchError } from '../../read/batch-reader.ts';
import { spanValuesMax } from '../limits.ts';
import { addSpan } from './span-count.ts';

const openBrace = 0x7b;
const openBracket = 0x5b;

/**
 * The position of a span, its number of nested values, and whether one of its keys may be written with an
 * escape.
 */
export interface LocatedSpan extends Range {
  readonly values: number;
  readonly hasEscapedKey: boolean;
}

export interface LocatedSpans {
  readonly spans: readonly LocatedSpan[];
  /** Whether a key of the body may be written with an escape. */
  readonly hasEscapedKey: boolean;
}

/** The names of the lists of a request, from the outermost. */
export interface ListNames {
  readonly resources: string;
  readonly scopes: string;
  readonly records: string;
}

/** Scans the value that starts at `start`. @returns its end. */
type Walk = (start: number) => number;

/**
 * Finds the elements of `resourceSpans[].scopeSpans[].spans[]`, or of the lists with other names, in the
 * bytes of a body.
 * @throws Error when the scan finds that the bytes are not JSON. It does not find every error.
 * @throws IngestError `batch_too_large` when there are too many spans, or too many values around them.
 * @throws CostlyBatchError when there are more than `valuesMax` values.
 */
export function locateJsonSpans(bytes: Buffer, valuesMax: number, names: ListNames): LocatedSpans {
  const spans: LocatedSpan[] = [];
  const scan = newScanState(Number.MAX_SAFE_INTEGER);
  let valuesOfSpans = 0;
  const checkValues = () => {
    const values = Number.MAX_SAFE_INTEGER - scan.valuesLeft;
    if (values > valuesMax) throw new CostlyBatchError();
    if (values - valuesOfSpans > spanValuesMax) throw tooManyValues();
  };
  const skip: Walk = (start) => {
    const end = skipValue(bytes, start, scan);
    checkValues();
    return end;
  };
  const walkSpan: Walk = (start) => {
    const { valuesLeft } = scan;
    const end = skipValue(bytes, start, scan);
    const values = valuesLeft - scan.valuesLeft;
    valuesOfSpans += values;
    checkValues();
    addSpan(spans, { start, end, values, hasEscapedKey: scan.hasEscapedKey });
    return end;
  };
  const walkElementsOf =
    (name: string, walkElement: Walk): Walk =>
    (start) => {
      if (bytes[start] !== openBrace) return skip(start);
      return walkObject(bytes, start, (key, valueStart) => {
        scan.valuesLeft -= 1;
        if (isEscaped(bytes, key.start, key.end)) noteEscapedKey(scan);
        return isKey(bytes, key, name) && bytes[valueStart] === openBracket
          ? walkArray(bytes, valueStart, walkElement)
          : skip(valueStart);
      });
    };
  const walkScopeSpans = walkElementsOf(names.records, walkSpan);
  const walkResourceSpans = walkElementsOf(names.scopes, walkScopeSpans);
  walkElementsOf(names.resources, walkResourceSpans)(skipSpace(bytes, 0));
  return { spans, hasEscapedKey: scan.hasEscapedKey };
}

function tooManyValues(): IngestError {
  return new IngestError(
    'batch_too_large',
    `The request has more than ${spanValuesMax} values outside of its spans.`,
  );
}
