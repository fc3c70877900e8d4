import type { Json } from '../../read/protobuf-struct.ts';
import { AttributeReader } from '../mapping/attribute-reader.ts';
import { isJsonObject } from '../mapping/messages/messages.ts';
import { type Convention, llmRows, usageRows } from '../mapping/table.ts';
import { parseEmbeddedJson } from '../spans/exact-json.ts';
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
    responseId: reader.text(llmRows.responseId) ?? responseIdIn(reader.get('output.value')),
    startNs: span.startNs,
    endNs: span.endNs,
  };
}

/** The response id in the response that OpenInference sends as JSON text: of the OpenAI and Anthropic clients, and of LangChain. */
export function responseIdIn(value: Json | undefined): string | undefined {
  const json = typeof value === 'string' ? parseEmbeddedJson(value) : value;
  if (!isJsonObject(json)) return undefined;
  const [generation] = listIn(listIn(json.generations)[0]);
  const message = membersIn(membersIn(generation).message);
  const metadata = membersIn(membersIn(message.kwargs).response_metadata);
  const ids = [json.id, metadata.id, membersIn(json.llm_output).id, membersIn(message.kwargs).id];
  // LangChain's own ids identify its runs, not the provider's response.
  return ids.find((id): id is string => typeof id === 'string' && id !== '' && !/^(?:lc_)?run-/.test(id));
}

function membersIn(json: Json | undefined): { readonly [key: string]: Json } {
  return isJsonObject(json) ? json : {};
}

function listIn(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : [];
}
