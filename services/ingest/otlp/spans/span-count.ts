import { IngestError } from '../../../../event/errors.ts';
import { spanEventsMax, spansMax } from '../limits.ts';
import { UnstorableError } from './span.ts';

/** Adds a span. @throws IngestError `batch_too_large` beyond `spansMax`. */
export function addSpan<T>(spans: T[], span: T): void {
  if (spans.push(span) <= spansMax) return;
  throw new IngestError(
    'batch_too_large',
    `The request has more than ${spansMax} spans: send smaller batches.`,
  );
}

/** @throws UnstorableError when one span has too many events or links. */
export function checkCount(count: number): void {
  if (count <= spanEventsMax) return;
  throw new UnstorableError(`A span has more than ${spanEventsMax} events or links.`);
}
