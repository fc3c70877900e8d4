import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { instant } from '../../../platform/instant.ts';
import { chartSteps } from '../charts/time-buckets.ts';
import { timeMs } from '../filter-input.ts';
import type { appRouter } from '../router.ts';
import type { AnswerData } from './answer.ts';

/** The router's procedures, called with the request's read key: checks, limits and queues as over HTTP. */
export interface Reads {
  readonly call: ReturnType<typeof appRouter.createCaller>;
  readonly spaceId: string;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** @param input parsed by `input`. */
  run(reads: Reads, input: unknown): Promise<AnswerData>;
}

export function tool<Shape extends z.ZodRawShape>({
  input: shape,
  run,
  ...described
}: Omit<Tool, 'input' | 'run'> & {
  input: Shape;
  run: (reads: Reads, input: z.output<z.ZodObject<Shape>>) => Promise<AnswerData>;
}): Tool {
  const input = z.object(shape);
  return {
    ...described,
    input,
    run: async (reads, given) => {
      const parsed = input.safeParse(given);
      if (!parsed.success) throw new TRPCError({ code: 'BAD_REQUEST', cause: parsed.error });
      return run(reads, parsed.data);
    },
  };
}

const time = z
  .union([timeMs, instant])
  .describe('ISO 8601 such as 2026-11-30T12:00:00Z, or milliseconds since 1970');

export const eventId = z.guid().describe('The id of an event');

export const filter = {
  type: z.enum(['llm', 'tool']).optional().describe('LLM calls or tool calls'),
  state: z.enum(['ok', 'error']).optional().describe('The outcome of the call'),
  name: z.string().optional().describe('The exact name of the model or tool'),
  source: z.string().optional().describe('The instrumented library, such as openai'),
  userId: z.string().optional().describe('The exact userId of the end user'),
  threadId: z.string().optional().describe('The exact threadId of the conversation'),
  traceId: z.guid().optional(),
  agentId: z.string().optional(),
  errorCode: z.string().optional(),
  minDurationMs: timeMs.optional().describe('The minimum duration in milliseconds'),
  label: z.string().optional().describe('A label of a note on the event, its trace or its thread'),
  from: time.optional().describe('First start time: ISO 8601, or milliseconds since 1970'),
  to: time.optional().describe('End of the start times, exclusive'),
};

/** The filter of `events.list`. */
export function withLabel<Given extends { label?: string | undefined }>({ label, ...given }: Given) {
  return { ...given, ...(label !== undefined && { notes: [{ label }] }) };
}

export const chartRange = {
  from: time.describe('Start: ISO 8601, or milliseconds since 1970'),
  to: time.describe('End, exclusive'),
  step: z.enum(chartSteps).describe('The size of the buckets'),
};
