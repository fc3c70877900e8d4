import type { SpanContext } from '../../../../store/traces/span-tree.ts';
import type { Span } from '../spans/span.ts';
import { agentIdOf, agentOfStep } from './agent.ts';
import { AttributeReader } from './attribute-reader.ts';
import type { Role } from './role.ts';
import { commonRows } from './table.ts';

/** The agent, thread and user that a span names. The spans below it that name none belong to the same. */
export function readContext(span: Span, role: Role): SpanContext {
  const reader = new AttributeReader(span.attributes, 'by' in role ? role.by : 'genAi');
  return {
    agentId:
      role.kind === 'agent' ? agentIdOf(span, role) : (reader.text(commonRows.agentId) ?? agentOfStep(span)),
    threadId: reader.text(commonRows.threadId),
    userId: reader.text(commonRows.userId),
  };
}
