import { defineRows } from './rows.ts';

/*
 * The attributes that hold each field of an event, by convention. One span often follows several: the column
 * of the one that identified the span is searched first, then the others from left to right. In a column the
 * first attribute with a value wins. A name that ends in `.*` stands for all attributes with that prefix,
 * those of numbered lists (`llm.tools.0.tool…`); `metadata#user_id` is a member of a JSON object in an
 * attribute.
 */

/**
 * Names of the thread and the user in the metadata that an application attaches, whatever its
 * instrumentation.
 */
const threadNames = [
  'thread_id',
  'threadId',
  'session_id',
  'sessionId',
  'conversation_id',
  'conversationId',
  'chat_id',
  'chatId',
];
const userNames = ['user_id', 'userId'];
/** LangChain's metadata names the agent and the provider. */
const langChainAgent = ['lc_agent_name'];
const langChainProvider = ['ls_provider'];

/** Fields of LLM and tool events. */
export const commonRows = defineRows({
  source: {
    langfuse: metadata('langfuse.observation.metadata.', langChainProvider),
    genAi: ['gen_ai.provider.name', 'gen_ai.system', ...metadata('langsmith.metadata.', langChainProvider)],
    openInference: ['llm.provider', 'llm.system', ...metadata('metadata#', langChainProvider)],
    vercel: ['ai.model.provider'],
    openLlmetry: [
      'llm.vendor',
      // Cloudflare's AI Gateway
      'gen_ai.model.provider',
      ...metadata('traceloop.association.properties.', langChainProvider),
      'mlflow.llm.provider',
    ],
  },
  threadId: {
    langfuse: [
      'session.id',
      'langfuse.session.id',
      ...metadata('langfuse.trace.metadata.', threadNames),
      ...metadata('langfuse.observation.metadata.', threadNames),
    ],
    genAi: [
      'gen_ai.conversation.id',
      'conversation.id',
      'spring.ai.chat.client.conversation.id',
      'gcp.vertex.agent.session_id',
      ...metadata('langsmith.metadata.', threadNames),
      ...metadata('mastra.metadata.', threadNames),
      'langwatch.thread.id',
      'lmnr.association.properties.session_id',
      'genkit:sessionId',
    ],
    openInference: ['session.id', ...metadata('metadata#', threadNames)],
    vercel: metadata('ai.telemetry.metadata.', threadNames),
    openLlmetry: metadata('traceloop.association.properties.', threadNames),
  },
  userId: {
    langfuse: [
      'user.id',
      'langfuse.user.id',
      ...metadata('langfuse.trace.metadata.', userNames),
      ...metadata('langfuse.observation.metadata.', userNames),
    ],
    genAi: [
      'user.id',
      'enduser.id',
      'gen_ai.request.user',
      ...metadata('langsmith.metadata.', userNames),
      ...metadata('mastra.metadata.', [...userNames, 'resourceId']),
      'langwatch.user.id',
      'lmnr.association.properties.user_id',
    ],
    openInference: ['user.id', ...metadata('metadata#', userNames)],
    vercel: metadata('ai.telemetry.metadata.', userNames),
    openLlmetry: [...metadata('traceloop.association.properties.', userNames), 'llm.user'],
  },
  agentId: {
    langfuse: metadata('langfuse.observation.metadata.', langChainAgent),
    // The name comes first: many frameworks create a new id for each run.
    genAi: [
      'gen_ai.agent.name',
      'gen_ai.agent.id',
      'agent_name',
      'gen_ai.function_id',
      ...metadata('langsmith.metadata.', langChainAgent),
    ],
    openInference: ['agent.name', ...metadata('metadata#', langChainAgent)],
    vercel: ['ai.telemetry.functionId'],
    openLlmetry: metadata('traceloop.association.properties.', langChainAgent),
  },
  errorCode: { genAi: ['error.type'] },
  errorHttpStatus: { genAi: ['http.response.status_code', 'http.status_code', 'status_code'] },
  errorMessage: { langfuse: ['langfuse.observation.status_message'], genAi: ['error.message'] },
});

/** `properties.llm`. */
export const llmRows = defineRows({
  model: {
    langfuse: ['langfuse.observation.model.name'],
    genAi: [
      'gen_ai.response.model',
      'gen_ai.request.model',
      'genkit:name',
      'braintrust.metadata#model',
      // A stream of traceAI's
      'gen_ai.request.parameters#model',
    ],
    // OpenInference's processor for Pydantic AI adds the requested model to spans that have the model of the
    // response.
    openInference: ['gen_ai.response.model', 'llm.model_name'],
    vercel: ['ai.response.model', 'ai.model.id'],
    openLlmetry: [
      'llm.response.model',
      'llm.request.model',
      'llm.model',
      'mlflow.llm.model',
      'mlflow.spanInputs#model',
    ],
  },
  system: {
    langfuse: ['langfuse.observation.metadata.instructions'],
    genAi: ['gen_ai.system_instructions'],
  },
  input: {
    langfuse: ['langfuse.observation.input'],
    genAi: [
      'gen_ai.input.messages',
      'gen_ai.input.messages.*',
      'gen_ai.request.messages',
      'gen_ai.prompt',
      'gen_ai.prompt_json',
      'braintrust.input_json',
      'mastra.model_step.input',
      'gcp.vertex.agent.llm_request',
      'langwatch.input',
      'lmnr.span.input',
      'genkit:input',
      'haystack.component.input',
    ],
    openInference: ['llm.input_messages.*', 'llm.prompts.*', 'llm.prompts', 'input.value'],
    vercel: ['ai.prompt.messages', 'ai.prompt'],
    // The last is Pipecat's, as below.
    openLlmetry: ['gen_ai.prompt.*', 'llm.prompts.*', 'llm.messages', 'mlflow.spanInputs', 'input'],
  },
  tools: {
    langfuse: ['langfuse.observation.metadata.tools'],
    genAi: [
      'gen_ai.tool.definitions',
      'gen_ai.request.available_tools',
      'langwatch.params#tools',
      'model_request_parameters#function_tools',
    ],
    openInference: ['llm.tools.*'],
    vercel: ['ai.prompt.tools'],
    openLlmetry: ['llm.request.functions.*', 'gen_ai.request.functions.*', 'mlflow.chat.tools', 'tools'],
  },
  output: {
    langfuse: ['langfuse.observation.output'],
    genAi: [
      'gen_ai.output.messages',
      'gen_ai.output.messages.*',
      'gen_ai.completion',
      'gen_ai.completion_json',
      'braintrust.output_json',
      'mastra.model_step.output',
      'gcp.vertex.agent.llm_response',
      'langwatch.output',
      'lmnr.span.output',
      'genkit:output',
      'haystack.component.output',
    ],
    openInference: ['llm.output_messages.*', 'llm.completions.*', 'output.value'],
    openLlmetry: ['gen_ai.completion.*', 'llm.completions.*', 'mlflow.spanOutputs', 'output'],
  },
  reasoning: { vercel: ['ai.response.reasoning', 'ai.response.reasoningText'] },
  response: { genAi: ['gen_ai.response.text'], vercel: ['ai.response.text', 'ai.response.object'] },
  toolCalls: { genAi: ['gen_ai.response.tool_calls'], vercel: ['ai.response.toolCalls'] },
  mode: { genAi: ['gen_ai.output.type'] },
  finishReason: {
    langfuse: ['langfuse.observation.metadata.finish_reason'],
    genAi: [
      'gen_ai.response.finish_reasons',
      'gen_ai.response.finish_reason',
      'anthropic.message.stop_reason',
    ],
    openInference: ['llm.finish_reason'],
    vercel: ['ai.response.finishReason'],
    openLlmetry: ['llm.response.finish_reason', 'llm.response.stop_reason'],
  },
  responseId: { genAi: ['gen_ai.response.id'], vercel: ['ai.response.id'] },
  timeToFirstChunkS: {
    genAi: [
      'gen_ai.response.time_to_first_chunk',
      'gen_ai.client.operation.time_to_first_chunk',
      'gen_ai.latency.time_to_first_token',
      'metrics.ttfb',
    ],
  },
  timeToFirstChunkMs: {
    genAi: ['ttft_ms', 'gen_ai.server.time_to_first_token'],
    vercel: ['ai.response.msToFirstChunk'],
  },
  completionStartTime: { langfuse: ['langfuse.observation.completion_start_time'] },
});

/** `properties.tool`. */
export const toolRows = defineRows({
  name: {
    genAi: ['gen_ai.tool.name', 'spring.ai.tool.definition.name', 'genkit:name'],
    openInference: ['tool.name'],
    vercel: ['ai.toolCall.name'],
    openLlmetry: ['traceloop.entity.name', 'operation.name'],
  },
  callId: {
    genAi: ['gen_ai.tool.call.id', 'gen_ai.tool.call_id', 'spring.ai.tool.call.id'],
    openInference: ['tool.id', 'tool_call.id', 'tool_call_id', 'tool.call.id'],
    vercel: ['ai.toolCall.id'],
  },
  input: {
    // The handler for LangChain sends Python's text of the arguments as the input.
    langfuse: ['langfuse.observation.metadata.inputs', 'langfuse.observation.input'],
    genAi: [
      'gen_ai.tool.call.arguments',
      'gen_ai.tool.input',
      'spring.ai.tool.call.arguments',
      'tool_arguments',
      'gcp.vertex.agent.tool_call_args',
      'gen_ai.prompt',
      'braintrust.input_json',
      'langwatch.input',
      'lmnr.span.input',
      'genkit:input',
      'input',
    ],
    openInference: ['input.value', 'tool.parameters'],
    vercel: ['ai.toolCall.args', 'ai.toolCall.input'],
    openLlmetry: ['traceloop.entity.input', 'agentops.tool.input', 'mlflow.spanInputs'],
  },
  output: {
    langfuse: ['langfuse.observation.output'],
    genAi: [
      'gen_ai.tool.call.result',
      'gen_ai.tool.output',
      'spring.ai.tool.call.result',
      'anthropic.tool_result.content',
      'tool_response',
      'gcp.vertex.agent.tool_response',
      'gen_ai.completion',
      'braintrust.output_json',
      'langwatch.output',
      'lmnr.span.output',
      'genkit:output',
      'output',
    ],
    openInference: ['output.value'],
    vercel: ['ai.toolCall.result', 'ai.toolCall.output'],
    openLlmetry: ['traceloop.entity.output', 'agentops.tool.output', 'mlflow.spanOutputs'],
  },
});

function metadata(prefix: string, names: readonly string[]): string[] {
  return names.map((name) => prefix + name);
}
