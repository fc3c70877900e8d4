import { type Attributes, textOf } from '../spans/attributes.ts';
import type { Span } from '../spans/span.ts';
import type { Role } from './role.ts';
import { commonRows } from './table.ts';

/** The agent's id or name, for a span of an agent run. Some conventions have no attribute and name the span after the agent. */
export function agentIdOf(span: Span, role: Role): string | undefined {
  if (role.kind !== 'agent') return undefined;
  const named = firstText(span.attributes, agentNames);
  return named ?? (role.by === 'genAi' ? undefined : span.name.replace(methodSuffix, '') || undefined);
}

/** Instrumentations of Python name a span by the agent and its method: `planner.run`. */
const methodSuffix = /\.(?:a?run|a?invoke|a?call|kickoff|_execute_core)$/;

const agentNames: readonly string[] = [
  ...commonRows.agentId.genAi,
  ...commonRows.agentId.openInference,
  'traceloop.entity.name',
];

function firstText(attributes: Attributes, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textOf(attributes, name);
    if (text !== undefined) return text;
  }
  return undefined;
}
