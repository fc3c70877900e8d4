import type { Json } from '../../read/protobuf-struct.ts';
import { parseEmbeddedJson } from '../spans/exact-json.ts';
import type { AttributeReader } from './attribute-reader.ts';
import { compact, type Members } from './members.ts';
import { type Row, toolRows } from './table.ts';

/** Maps a tool span to `properties.tool` (docs/api.md §2.7), by the table. Input and output that are JSON are stored as such. */
export function mapToolPayload(reader: AttributeReader, spanName: string): Members {
  return compact({
    name: reader.text(toolRows.name) ?? spanName,
    callId: reader.text(toolRows.callId),
    input: takeValue(reader, toolRows.input),
    output: takeValue(reader, toolRows.output),
  });
}

function takeValue(reader: AttributeReader, row: Row): Json | undefined {
  const found = reader.find(row);
  if (found === undefined) return undefined;
  reader.take(found);
  const { value } = found;
  return typeof value === 'string' ? (parseEmbeddedJson(value) ?? value) : value;
}
