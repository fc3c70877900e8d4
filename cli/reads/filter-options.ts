import { type Command, Option } from 'commander';
import type { EventFilter } from '../../store/read/event-filter.ts';
import { collectAttributes, collectLabels, parseDuration, parseTime, parseTrace } from '../arguments.ts';

export interface FilterOptions
  extends Pick<EventFilter, 'type' | 'state' | 'name' | 'source' | 'errorCode' | 'from' | 'to' | 'text'> {
  trace?: string;
  thread?: string;
  agent?: string;
  agentGroup?: string;
  user?: string;
  attribute?: EventFilter['attributes'];
  minDuration?: number;
  maxDuration?: number;
  label?: EventFilter['notes'];
}

export function addFilterOptions(command: Command): Command {
  return command
    .addOption(new Option('--type <type>', 'LLM calls or tool calls').choices(['llm', 'tool']))
    .addOption(new Option('--state <state>', 'the outcome of the call').choices(['ok', 'error']))
    .option('--name <name>', 'the model or the tool')
    .option('--source <source>', 'the instrumented library')
    .option('--trace <id>', 'the trace', parseTrace)
    .option('--thread <id>', 'the thread')
    .option('--agent <id>', 'the agent')
    .option('--agent-group <id>', 'the agent group')
    .option('--user <id>', 'the user')
    .option('--error-code <code>', 'the code of the error')
    .option('--attribute <key=value>', 'an additional property; may be repeated', collectAttributes)
    .option(
      '--label <name[=value]>',
      'a label on the event, its trace or its thread; may be repeated',
      collectLabels,
    )
    .option('--from <time>', 'first start time: ISO 8601, or milliseconds since 1970', parseTime)
    .option('--to <time>', 'end of the start times (exclusive)', parseTime)
    .option('--min-duration <ms>', 'shortest duration', parseDuration)
    .option('--max-duration <ms>', 'longest duration', parseDuration)
    .option('--text <text>', 'text to find in the previews of input and output (their first characters)');
}

export function toFilter(options: FilterOptions): EventFilter {
  const { type, state, name, source, errorCode, from, to, text } = options;
  return {
    type,
    state,
    name,
    source,
    errorCode,
    from,
    to,
    text,
    traceId: options.trace,
    threadId: options.thread,
    agentId: options.agent,
    agentGroupId: options.agentGroup,
    userId: options.user,
    attributes: options.attribute,
    notes: options.label,
    minDurationMs: options.minDuration,
    maxDurationMs: options.maxDuration,
  };
}
