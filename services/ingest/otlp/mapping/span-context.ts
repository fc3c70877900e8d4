import { parseEmbeddedJson } from '../../../../event/json/embedded-json.ts';
import { isJsonObject } from '../../../../event/json/json-value.ts';
import type { SpanContext } from '../../../../store/traces/span-tree.ts';
import { type Attributes, textOf } from '../spans/attributes.ts';
import type { Span } from '../spans/span.ts';
import type { AttributeReader } from './attribute-reader.ts';
import type { Role } from './role.ts';
import { commonRows } from './table.ts';

/** The agent, thread and user that a span names. The spans below it that name none belong to the same. */
export function readContext(span: Span, role: Role, reader: AttributeReader): SpanContext {
  return {
    agentId:
      role.kind === 'agent' ? agentIdOf(span, role) : (reader.text(commonRows.agentId) ?? agentOfStep(span)),
    threadId: reader.text(commonRows.threadId),
    userId: reader.text(commonRows.userId),
  };
}

/**
 * The agent's id or name, for a span of an agent run. Some conventions have no attribute and name the span
 * after the agent.
 */
function agentIdOf(span: Span, role: Role): string | undefined {
  if (role.kind !== 'agent') return undefined;
  const named = firstText(span.attributes, agentNames);
  return named ?? (role.by === 'genAi' ? undefined : span.name.replace(methodSuffix, '') || undefined);
}

/**
 * The agent of a step of LlamaIndex. Its spans of agents are chains without an attribute for the name; the
 * last field of the step's input has it:
 * `{"ev": "AgentSetup(input=[…], current_agent_name='planner')"}`.
 */
function agentOfStep({ name, attributes }: Span): string | undefined {
  if (!name.endsWith('.run_agent_step')) return undefined;
  const input = parseEmbeddedJson(textOf(attributes, 'input.value') ?? '');
  const event = isJsonObject(input) ? input.ev : undefined;
  const [, named] = typeof event === 'string' ? (agentOfSetup.exec(event) ?? []) : [];
  return named || undefined;
}

const agentOfSetup = /, current_agent_name='([^'\\]*)'\)$/;

/**
 * Instrumentations of Python name a span by the agent and its method, or its kind: `planner.run`,
 * `planner.agent`.
 */
const methodSuffix =
  /\.(?:a?run|run_stream|a?invoke|a?call|kickoff|_execute_core|on_messages|on_messages_stream|agent)$/;

const agentNames: readonly string[] = [
  ...commonRows.agentId.genAi,
  ...commonRows.agentId.openInference,
  'traceloop.entity.name',
  'entity.name',
];

function firstText(attributes: Attributes, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textOf(attributes, name);
    if (text !== undefined) return text;
  }
  return undefined;
}
