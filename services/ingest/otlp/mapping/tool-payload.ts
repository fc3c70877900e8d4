import type { Json } from '../../read/protobuf-struct.ts';
import { parseEmbeddedJson } from '../spans/exact-json.ts';
import type { SpanEvent } from '../spans/span.ts';
import type { AttributeReader } from './attribute-reader.ts';
import { compact, type JsonObject } from './json-object.ts';
import { type Row, toolRows } from './table.ts';

/** Maps a tool span to `properties.tool` (docs/api.md §2.7), by the rows of the table. Input and output in JSON text are stored as JSON. */
export function mapToolPayload(
  reader: AttributeReader,
  spanName: string,
  events: readonly SpanEvent[],
): JsonObject {
  return compact({
    name: reader.text(toolRows.name) ?? spanName,
    callId: reader.text(toolRows.callId),
    input: takeValue(reader, toolRows.input) ?? valueOfEvent(events, 'gen_ai.tool.message', 'content'),
    output: takeValue(reader, toolRows.output) ?? valueOfEvent(events, 'gen_ai.choice', 'message'),
  });
}

/** Strands sends the arguments and the result of a tool as events of its span. */
function valueOfEvent(events: readonly SpanEvent[], event: string, attribute: string): Json | undefined {
  const value = events.find(({ name }) => name === event)?.attributes.get(attribute);
  return typeof value === 'string' ? (parseEmbeddedJson(value) ?? value) : value;
}

function takeValue(reader: AttributeReader, row: Row): Json | undefined {
  const found = reader.find(row);
  if (found === undefined) return undefined;
  reader.take(found);
  const { value } = found;
  return typeof value === 'string' ? (parseEmbeddedJson(value) ?? value) : value;
}
