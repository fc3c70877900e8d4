import { z } from 'zod';

/** The events of Weir's JSON API, as far as both types share their fields. Other fields are kept. */
export const batchSchema = z.object({
  events: z
    .array(
      z.looseObject({
        id: z.uuidv4(),
        type: z.enum(['llm', 'tool']),
        traceId: z.uuid().optional(),
        startTimeMs: z.number(),
        endTimeMs: z.number(),
        durationMs: z.number(),
        status: z.looseObject({ state: z.enum(['ok', 'error']) }),
        instrumentation: z.looseObject({ vendor: z.string(), source: z.string() }),
        properties: z.union([
          z.object({ llm: z.looseObject({ model: z.string() }) }),
          z.object({ tool: z.looseObject({ name: z.string() }) }),
        ]),
        context: z.looseObject({}).optional(),
        additionalProperties: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
      }),
    )
    .max(500),
});

export type Event = z.infer<typeof batchSchema>['events'][number];
