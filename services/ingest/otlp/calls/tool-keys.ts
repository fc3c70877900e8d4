import type { SpanNode } from '../../../../store/traces/span-tree.ts';
import type { AttributeReader } from '../mapping/attribute-reader.ts';
import { hashOf } from '../mapping/ids.ts';
import { toolRows } from '../mapping/table.ts';
import type { Span } from '../spans/span.ts';

/**
 * The properties by which tool spans are recognised as one call (store/traces/span-tree.ts).
 * @param scope the library that created it.
 */
export function toolKeysOf(
  span: Span,
  reader: AttributeReader,
  scope: string,
): Pick<SpanNode, 'scope' | 'usageKey' | 'responseKey'> & { readonly scope: string } {
  const callId = reader.text(toolRows.callId);
  return {
    // A client and a server of MCP may use one library: each span counts as that of another.
    scope: reader.get('mcp.method.name') === undefined ? scope : `mcp ${span.spanId} ${scope}`,
    usageKey: hashOf(['tool', reader.text(toolRows.name) ?? span.name]),
    // The trace is part of it: a call is one of its trace.
    ...(callId !== undefined && { responseKey: hashOf(['tool call', span.traceId, callId]) }),
  };
}
