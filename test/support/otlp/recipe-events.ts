import { bigInteger, expectedToolCalls, text } from '../../../sdk/typescript/test/support/provider-bodies.ts';

/** The expected events of an agent's run that a recipe of docs/opentelemetry.md observed. */
export interface ExpectedAgent {
  readonly instrumentation: { source: string; sourcePackage: string };
  readonly context: { threadId: string; userId: string; agentId?: string };
  /** `properties.llm` of the model calls, in order. */
  readonly calls: readonly object[];
  /** `properties.tool`, ordered by call id. */
  readonly tools: readonly object[];
  /** `additionalProperties` of every event, without ids. */
  readonly dimensions?: object;
  /** Whether a 64-bit integer in a tool's input keeps its digits: JavaScript's JSON.parse rounds it. */
  readonly isExact?: true;
  /**
   * `status.error` of a call that the provider rejects; undefined when the instrumentation creates no span
   * for it.
   */
  readonly refusal?: object;
  /** The protocols for which the retries of its exporter are tested while Weir cannot store. */
  readonly protocols?: readonly string[];
  /** Values of OTEL_TRACES_EXPORTER with which it sends every span twice. */
  readonly fanOuts?: readonly string[];
}

const context = { threadId: 'thread-1', userId: 'user-1', agentId: 'traveller' };
const input = { system: 'Be brief.', prompt: 'How warm is it in Bern?' };
const functions = [{ name: 'get_weather' }, { name: 'get_rate' }];
const openaiTools = functions.map((own) => ({ type: 'function', function: own }));
/** For JavaScript instrumentations that parse arguments and serialise them again. */
const roundedCalls = expectedToolCalls.map((call) => ({
  ...call,
  arguments: JSON.stringify(JSON.parse(call.arguments)),
}));

const total = { inputTokens: 120, outputTokens: 30, totalTokens: 150 };
const cached = { inputTokenDetails: { uncachedTokens: 56, cacheReadTokens: 64 } };
const reasoning = { outputTokenDetails: { reasoningTokens: 10, responseTokens: 20 } };
const ofMessages = {
  ...total,
  inputTokenDetails: { uncachedTokens: 40, cacheReadTokens: 64, cacheWriteTokens: 16 },
};

const tools = [
  { name: 'get_weather', callId: 'call_1', input: { city: 'Bern' }, output: { city: 'Bern', celsius: 21 } },
  { name: 'get_rate', callId: 'call_2', input: { symbol: 'CHF' }, output: { symbol: 'CHF', perEuro: 0.94 } },
];

/** Two model calls: one that requests tools, and one that answers. */
function calls(
  usage: object,
  {
    toolCalls = expectedToolCalls,
    reasons = ['tool_calls', 'stop'],
    definitions = openaiTools,
  }: {
    toolCalls?: readonly object[];
    reasons?: readonly string[];
    definitions?: readonly object[];
  } = {},
): object[] {
  const [first, last] = reasons;
  const model = 'gpt-test-2026';
  const asked = { ...input, tools: definitions };
  return [
    { model, input: asked, output: { mode: 'tool_calls', toolCalls, finishReason: first }, usage },
    { model, input: asked, output: { mode: 'text', response: text, finishReason: last }, usage },
  ];
}

const toolResults = tools.map(({ output }) => [{ type: 'text', text: JSON.stringify(output) }]);

/** Expectations by recipe title. */
export const expectedAgents: Readonly<Record<string, ExpectedAgent>> = {
  "OpenTelemetry's own instrumentation": {
    instrumentation: { source: 'openai', sourcePackage: '@opentelemetry/instrumentation-openai' },
    refusal: { code: 'BadRequestError', message: '400 It is 400.' },
    context,
    calls: ['tool_calls', 'stop'].map((finishReason) => ({
      model: 'gpt-test-2026',
      output: { finishReason },
      usage: total,
      responseId: 'chatcmpl-1',
    })),
    tools,
    isExact: true,
  },
  OpenInference: {
    instrumentation: {
      source: 'openai',
      sourcePackage: '@arizeai/openinference-instrumentation-openai',
    },
    context,
    calls: calls({ ...total, ...cached, ...reasoning }),
    tools,
    isExact: true,
    protocols: ['http/protobuf'],
  },
  OpenLLMetry: {
    instrumentation: { source: 'openai', sourcePackage: '@traceloop/instrumentation-openai' },
    context,
    calls: calls(total, { toolCalls: roundedCalls, reasons: ['tool_calls', 'stop'] }),
    tools,
    dimensions: { plan: 'pro' },
    isExact: true,
  },
  Langfuse: {
    // No span names the provider, so the source is the service name.
    instrumentation: { source: 'my-agent', sourcePackage: 'langfuse-sdk' },
    refusal: { message: 'Error: 400 It is 400.' },
    context,
    calls: [
      {
        model: 'gpt-test-2026',
        input,
        output: { mode: 'tool_calls', toolCalls: expectedToolCalls },
        usage: { ...total, ...cached, ...reasoning },
      },
    ],
    tools: [{ name: 'get_weather', input: { city: 'Bern' }, output: { city: 'Bern', celsius: 21 } }],
    dimensions: { plan: 'pro' },
  },
  "Vercel's AI SDK": {
    instrumentation: { source: 'openai', sourcePackage: 'gen_ai' },
    refusal: { code: 'AI_APICallError', httpStatus: 400, message: 'It is 400.' },
    context,
    calls: calls(
      { ...total, ...cached },
      { toolCalls: roundedCalls, reasons: ['tool_calls', 'stop'], definitions: functions },
    ),
    tools,
  },
  "Anthropic's client": {
    instrumentation: { source: 'anthropic', sourcePackage: 'com.anthropic.sdk.typescript' },
    refusal: { code: 'invalid_request_error', httpStatus: 400 },
    // The tool runner does not name the agent.
    context: { threadId: 'thread-1', userId: 'user-1' },
    calls: [
      {
        model: 'claude-test-2026',
        input,
        output: {
          mode: 'tool_calls',
          response: 'Let me see.',
          toolCalls: roundedCalls,
          finishReason: 'tool_calls',
        },
        usage: ofMessages,
      },
      {
        model: 'claude-test-2026',
        output: { mode: 'text', response: text, finishReason: 'stop' },
        usage: ofMessages,
      },
    ],
    tools: tools.map((tool, index) => ({ ...tool, output: toolResults[index] })),
  },
  "OpenTelemetry's own instrumentation (Python)": {
    instrumentation: { source: 'openai', sourcePackage: 'opentelemetry.instrumentation.genai.openai' },
    refusal: { code: 'openai.BadRequestError', message: 'Error code: 400 - It is 400.' },
    context,
    calls: calls({ ...total, ...cached }, { definitions: functions }),
    tools,
    isExact: true,
    protocols: ['http/protobuf', 'grpc'],
    fanOuts: ['otlp_proto_http,otlp_proto_grpc'],
  },
  'OpenInference (Python)': {
    instrumentation: { source: 'openai', sourcePackage: 'openinference.instrumentation.openai' },
    refusal: { code: 'openai.BadRequestError', message: 'BadRequestError: Error code: 400 - It is 400.' },
    context,
    calls: calls({ ...total, ...cached, ...reasoning }),
    tools,
    isExact: true,
  },
  'OpenLLMetry (Python)': {
    instrumentation: { source: 'openai', sourcePackage: 'opentelemetry.instrumentation.openai.v1' },
    refusal: { code: 'BadRequestError', message: 'Error code: 400 - It is 400.' },
    context,
    calls: calls({ ...total, ...cached }, { reasons: ['tool_calls', 'stop'], definitions: functions }),
    tools,
    isExact: true,
  },
  "OpenTelemetry's SDK for Go": {
    instrumentation: { source: 'openai', sourcePackage: 'my-agent' },
    context,
    calls: [
      {
        model: 'gpt-4o-mini',
        input: { prompt: input.prompt },
        output: { toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern"}' }] },
        usage: { ...total, ...cached },
      },
    ],
    tools: tools.slice(0, 1),
    isExact: true,
    protocols: ['http/protobuf', 'grpc'],
  },
};

/** An integer in a tool's input that a double cannot represent. */
export const exactTicket = `"ticket":${bigInteger}`;
