import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import type { appRouter } from '../router.ts';
import type { AnswerData } from './answer.ts';

/** The procedures of the router, called with the read key of the request: the same checks, limits and queues as over HTTP. */
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

/** Makes a tool whose `run` gets its parsed input. */
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
