import type { SpanContext } from '../../../../store/traces/span-tree.ts';
import { textOf } from '../spans/attributes.ts';
import type { Span } from '../spans/span.ts';
import type { AttributeReader } from './attribute-reader.ts';
import { objectIn } from './json-object.ts';
import type { Role } from './role.ts';
import type { Convention } from './rows.ts';
import { commonRows } from './table.ts';

/** The agent, thread and user that a span names. The spans below it that name none belong to the same. */
export function readContext(span: Span, role: Role, reader: AttributeReader): SpanContext {
  return {
    agentId:
      role.kind === 'agent'
        ? agentIdOf(span, role.by)
        : (reader.text(commonRows.agentId) ?? agentOfStep(span)),
    threadId: reader.text(commonRows.threadId),
    userId: reader.text(commonRows.userId),
  };
}

/**
 * The agent's id or name, for a span of an agent run. Some conventions have no attribute and name the span
 * after the agent.
 */
function agentIdOf({ attributes, name }: Span, by: Convention): string | undefined {
  const named = agentNames.map((one) => textOf(attributes, one)).find((text) => text !== undefined);
  return named ?? (by === 'genAi' ? undefined : name.replace(methodSuffix, '') || undefined);
}

/**
 * The agent of a step of LlamaIndex. Its spans of agents are chains without an attribute for the name; the
 * last field of the step's input has it:
 * `{"ev": "AgentSetup(input=[…], current_agent_name='planner')"}`.
 */
function agentOfStep({ name, attributes }: Span): string | undefined {
  if (!name.endsWith('.run_agent_step')) return undefined;
  const event = objectIn(textOf(attributes, 'input.value'))?.ev;
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
