import { timeMsMax } from '../platform/limits.ts';

/** 2020-12: the keywords that are used here. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

const uuidV4 = {
  type: 'string',
  format: 'uuid',
  // Upper or lower case. `$` matches at the very end only, so a trailing line break is rejected.
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$',
} as const;

const string = { type: 'string' } as const;
const number = { type: 'number' } as const;
const array = { type: 'array' } as const;
const stringOrNumber = { type: ['string', 'number'] } as const;
const milliseconds = { type: 'number', minimum: -timeMsMax, maximum: timeMsMax } as const;

/** An object whose named fields are checked if present. Other fields are accepted. */
function object(properties: Record<string, JsonSchema>, required: readonly string[] = []): JsonSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

const status = object(
  {
    state: { type: 'string', enum: ['ok', 'error'] },
    error: object({ code: stringOrNumber, httpStatus: stringOrNumber, message: string }),
  },
  ['state'],
);

const context = object({ threadId: string, agentId: string, agentGroupId: string, userId: string });

const llmPayload = object({
  model: string,
  input: object({ system: string, prompt: string, tools: array }),
  output: object({ mode: string, response: string, toolCalls: array }),
  usage: object({
    inputTokens: number,
    inputTokenDetails: object({ uncachedTokens: number, cacheReadTokens: number, cacheWriteTokens: number }),
    outputTokens: number,
    outputTokenDetails: object({ reasoningTokens: number, responseTokens: number }),
    totalTokens: number,
  }),
});

/**
 * The only description of an event's rules (docs/api.md §2.2 – 2.7): ingest compiles it, and the OpenAPI
 * document contains it.
 * @param vendor the literal that `instrumentation.vendor` must equal.
 */
export function eventSchema(vendor: string): JsonSchema {
  const { llm, tool } = eventSchemas(vendor);
  return { type: 'object', discriminator: { propertyName: 'type' }, oneOf: [llm, tool] };
}

/** The JSON Schema of each kind of event, by its `type`. */
export function eventSchemas(vendor: string): Record<'llm' | 'tool', JsonSchema> {
  return {
    llm: eventOf('llm', llmPayload, vendor),
    tool: eventOf('tool', { type: 'object' }, vendor),
  };
}

function eventOf(type: 'llm' | 'tool', payload: JsonSchema, vendor: string): JsonSchema {
  return object(
    {
      id: uuidV4,
      type: { const: type },
      traceId: uuidV4,
      startTimeMs: milliseconds,
      endTimeMs: milliseconds,
      durationMs: milliseconds,
      status,
      instrumentation: object(
        { vendor: { const: vendor }, source: string, sourcePackage: string, sourceFunction: string },
        ['vendor', 'source', 'sourcePackage'],
      ),
      context,
      additionalProperties: { type: 'object', additionalProperties: stringOrNumber },
      properties: object({ [type]: payload }, [type]),
    },
    [
      'id',
      'type',
      'startTimeMs',
      'endTimeMs',
      'durationMs',
      'status',
      'instrumentation',
      'context',
      'additionalProperties',
      'properties',
    ],
  );
}
