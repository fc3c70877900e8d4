import { spanProperty } from '../../../event/attributes.ts';
import { isJsonObject, type Json, type JsonObject, setMember } from '../../../event/json/json-value.ts';

/**
 * The values that each span of a merged event had. They are kept in the event (`otel.part`, and in each entry
 * of `otel.merged`), so that a part can be taken out again: an LLM span that was merged turns out to be the
 * sum of several calls when another call below it arrives.
 */

/** The members of an event that are merged, by their place. */
const sectionNames = [
  'status',
  'instrumentation',
  'context',
  'additionalProperties',
  'llm',
  'tool',
  'input',
  'output',
  'usage',
] as const;
export type SectionName = (typeof sectionNames)[number];
export type Sections = Record<SectionName, JsonObject>;

/** The additional property with the ids of the spans that were merged. */
export const mergedIdsName = 'otel.merged_span_ids';

/** The event of one span: its sections, and the attributes without a field. */
export interface SpanPart {
  readonly spanId: string;
  readonly sections: Sections;
  readonly otel: JsonObject;
  /** Spans that are part of it, and whose own parts are not known. */
  readonly mergedIds: readonly string[];
}

/** The parts of an event, its own first. @param spanId its span, by default as it says. */
export function partsOf(event: JsonObject, spanId?: string): SpanPart[] {
  const sections = sectionsOf(event);
  const { llm, tool } = membersOf(event.properties);
  const { merged, part, ...own } = membersOf(membersOf(llm ?? tool).otel);
  const entries = Array.isArray(merged) ? merged.map(membersOf) : [];
  if (!isJsonObject(part) || !entries.every((entry) => isJsonObject(entry.part))) {
    // An event of an older version has no parts: it stays whole.
    const otel: JsonObject = merged === undefined ? own : { ...own, merged };
    const ids = membersOf(event.additionalProperties)[mergedIdsName];
    const ownId = sections.additionalProperties[spanProperty];
    return [
      {
        spanId: spanId ?? (typeof ownId === 'string' ? ownId : ''),
        sections,
        otel,
        mergedIds: typeof ids === 'string' && ids !== '' ? ids.split(',') : [],
      },
    ];
  }
  return [{ ...own, part }, ...entries].map(({ part: described, ...otel }) => {
    const { span_id: id, same, own: others } = membersOf(described);
    const restored = restore(sections, membersOf(same), membersOf(others));
    return { spanId: typeof id === 'string' ? id : '', sections: restored, otel, mergedIds: [] };
  });
}

/** The values of a span, with those that the merged event has left out. */
export function describePart({ spanId, sections }: SpanPart, whole: Sections): JsonObject {
  const [same, own]: [JsonObject, JsonObject] = [{}, {}];
  for (const name of sectionNames) {
    const names: string[] = [];
    const others: JsonObject = {};
    for (const [key, value] of Object.entries(sections[name])) {
      if (isSame(value, whole[name][key])) names.push(key);
      else setMember(others, key, value);
    }
    if (names.length > 0) same[name] = names;
    if (Object.keys(others).length > 0) own[name] = others;
  }
  return { span_id: spanId, same, ...(Object.keys(own).length > 0 && { own }) };
}

function restore(whole: Sections, same: JsonObject, own: JsonObject): Sections {
  const sections = {} as Sections;
  for (const name of sectionNames) {
    const section: JsonObject = {};
    const names = same[name];
    for (const key of Array.isArray(names) ? names.map(String) : []) {
      const value = whole[name][key];
      if (value !== undefined) setMember(section, key, value);
    }
    for (const [key, value] of Object.entries(membersOf(own[name]))) setMember(section, key, value);
    sections[name] = section;
  }
  return sections;
}

function sectionsOf(event: JsonObject): Sections {
  const properties = membersOf(event.properties);
  const { input, output, usage, otel: _, ...llm } = membersOf(properties.llm);
  const { otel: _otel, ...tool } = membersOf(properties.tool);
  const { [mergedIdsName]: _ids, ...additionalProperties } = membersOf(event.additionalProperties);
  return {
    status: membersOf(event.status),
    instrumentation: membersOf(event.instrumentation),
    context: membersOf(event.context),
    additionalProperties,
    llm,
    tool,
    input: membersOf(input),
    output: membersOf(output),
    usage: membersOf(usage),
  };
}

function isSame(a: Json, b: Json | undefined): boolean {
  return a === b || (b !== undefined && JSON.stringify(a) === JSON.stringify(b));
}

export function membersOf(json: Json | undefined): JsonObject {
  return isJsonObject(json) ? { ...json } : {};
}
