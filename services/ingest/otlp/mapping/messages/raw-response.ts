import type { Json } from '../../../../../event/json/json-value.ts';
import { membersOf, objectIn } from '../json-object.ts';
import { textIn } from './messages.ts';

/** Fields of a provider's response for which some conventions have no attribute. */
export type RawResponse = ReturnType<typeof readRawResponse>;

/**
 * Reads a response of OpenAI's, Anthropic's or Gemini's client, of LangChain or of Haystack, which their
 * tracers send as JSON text.
 */
export function readRawResponse(value: Json | undefined) {
  const json = objectIn(value);
  if (json === undefined)
    return {
      ...{ id: undefined, model: undefined, finishReason: undefined },
      ...{ usage: undefined, serviceTier: undefined },
    };
  const generation = membersOf(listOf(listOf(json.generations)[0])[0]);
  const message = membersOf(membersOf(generation.message).kwargs);
  const metadata = membersOf(message.response_metadata);
  // Haystack's chat generators have `meta` in each reply, the others beside the replies.
  const haystack = membersOf(membersOf(listOf(json.replies)[0]).meta ?? listOf(json.meta)[0]);
  // An item of a response has an id, too, but no model.
  const ownId = json.type === undefined || json.model !== undefined ? json.id : undefined;
  const ids = [
    ownId,
    json.response_id,
    json.responseId,
    metadata.id,
    membersOf(json.llm_output).id,
    membersOf(json.raw).id,
    message.id,
  ];
  const holders = [
    json,
    listOf(json.choices)[0],
    listOf(json.candidates)[0],
    generation.generation_info,
    metadata,
    haystack,
  ];
  const reasons = holders.map((holder) =>
    textIn(membersOf(holder), 'finish_reason', 'stop_reason', 'finishReason'),
  );
  return {
    // LangChain's own ids identify its runs, not the provider's response.
    id: ids.find((id): id is string => typeof id === 'string' && id !== '' && !/^(?:lc_)?run-/.test(id)),
    finishReason: reasons.find((reason) => reason !== undefined && reason !== ''),
    model: textIn(haystack, 'model'),
    /** The tokens as the provider counted them. */
    usage: json.usage ?? json.usageMetadata ?? haystack.usage,
    serviceTier: json.service_tier ?? metadata.service_tier ?? membersOf(json.llm_output).service_tier,
  };
}

function listOf(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : [];
}
