import { AttributeReader } from '../mapping/attribute-reader.ts';
import { readRawResponse } from '../mapping/messages/raw-response.ts';
import { type Convention, llmRows, usageRows } from '../mapping/table.ts';
import type { Span } from '../spans/span.ts';

/** The properties by which two LLM spans are recognised as one call. */
export interface CallTraits {
  /** The library that created the span. A library creates one span for each call. */
  readonly scope: string;
  readonly model: string | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** The provider's id of the response. */
  readonly responseId: string | undefined;
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** @param by the convention that identified the span as an LLM span. */
export function readCallTraits(span: Span, by: Convention, scope: string): CallTraits {
  const reader = new AttributeReader(span.attributes, by);
  return {
    scope,
    model: reader.text(llmRows.model),
    inputTokens: reader.number(usageRows.input),
    outputTokens: reader.number(usageRows.output),
    responseId: reader.text(llmRows.responseId) ?? readRawResponse(reader.get('output.value')).id,
    startNs: span.startNs,
    endNs: span.endNs,
  };
}
