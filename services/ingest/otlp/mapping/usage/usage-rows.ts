import { defineRows } from '../rows.ts';

/**
 * `properties.llm.usage`, as tokens. Langfuse, LangSmith and LangWatch send one object: see `usageObjects`.
 */
export const usageRows = defineRows({
  input: {
    genAi: [
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'gen_ai.response.prompt_tokens',
      'input_tokens',
      'gen_ai.usage.details.input_tokens',
    ],
    openInference: ['llm.token_count.prompt'],
    vercel: ['ai.usage.inputTokens', 'ai.usage.promptTokens'],
    openLlmetry: [
      'llm.usage.prompt_tokens',
      'mlflow.chat.tokenUsage#input_tokens',
      'braintrust.metrics#prompt_tokens',
    ],
  },
  cacheRead: {
    genAi: [
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'gen_ai.usage.input_tokens.cached',
      'gen_ai.usage.input_tokens.cache_read',
      'gen_ai.usage.cache_read_tokens',
      'gen_ai.usage.input_cached_tokens',
      'gen_ai.usage.details.cache_read_tokens',
      'gen_ai.usage.details.cache_read_input_tokens',
      'gen_ai.usage.details.cached_tokens',
      'cache_read_tokens',
    ],
    openInference: ['llm.token_count.prompt_details.cache_read'],
    vercel: ['ai.usage.inputTokenDetails.cacheReadTokens', 'ai.usage.cachedInputTokens'],
    openLlmetry: [
      'llm.usage.cached_tokens',
      'mlflow.chat.tokenUsage#cache_read_input_tokens',
      'braintrust.metrics#prompt_cached_tokens',
    ],
  },
  cacheWrite: {
    genAi: [
      'gen_ai.usage.cache_write.input_tokens',
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
      'gen_ai.usage.input_tokens.cache_write',
      'gen_ai.usage.cache_write_input_tokens',
      'gen_ai.usage.cache_write_tokens',
      'gen_ai.usage.details.cache_write_tokens',
      'gen_ai.usage.details.cache_creation_input_tokens',
      'cache_creation_tokens',
    ],
    openInference: ['llm.token_count.prompt_details.cache_write'],
    vercel: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
    openLlmetry: [
      'mlflow.chat.tokenUsage#cache_creation_input_tokens',
      'braintrust.metrics#prompt_cache_creation_tokens',
    ],
  },
  cacheWriteHour: {
    openLlmetry: ['braintrust.metrics#prompt_cache_creation_1h_tokens'],
    genAi: [
      'gen_ai.usage.details.cache_write_1h_tokens',
      'gen_ai.usage.details.ephemeral_1h_input_tokens',
      'gen_ai.usage.cache_creation.ephemeral_1h_input_tokens',
    ],
  },
  cacheWriteHalfDay: {},
  audioInput: {
    openLlmetry: ['braintrust.metrics#prompt_audio_tokens'],
    genAi: ['gen_ai.usage.audio.input_tokens', 'gen_ai.usage.details.input_audio_tokens'],
    openInference: ['llm.token_count.prompt_details.audio'],
  },
  imageInput: {
    genAi: ['gen_ai.usage.image.input_tokens', 'gen_ai.usage.details.input_image_tokens'],
    openInference: ['llm.token_count.prompt_details.image'],
  },
  audioCacheRead: {
    genAi: ['gen_ai.usage.audio.cache_read.input_tokens', 'gen_ai.usage.details.cache_audio_read_tokens'],
  },
  imageCacheRead: { genAi: ['gen_ai.usage.image.cache_read.input_tokens'] },
  audioOutput: {
    openLlmetry: ['braintrust.metrics#completion_audio_tokens'],
    genAi: ['gen_ai.usage.audio.output_tokens', 'gen_ai.usage.details.output_audio_tokens'],
    openInference: ['llm.token_count.completion_details.audio'],
  },
  imageOutput: {
    genAi: ['gen_ai.usage.image.output_tokens', 'gen_ai.usage.details.output_image_tokens'],
    openInference: ['llm.token_count.completion_details.image'],
  },
  webSearches: {
    genAi: ['gen_ai.usage.web_search_requests', 'gen_ai.usage.details.web_search_requests'],
  },
  output: {
    genAi: [
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'gen_ai.response.completion_tokens',
      'output_tokens',
      'gen_ai.usage.details.output_tokens',
    ],
    openInference: ['llm.token_count.completion'],
    vercel: ['ai.usage.outputTokens', 'ai.usage.completionTokens'],
    openLlmetry: [
      'llm.usage.completion_tokens',
      'mlflow.chat.tokenUsage#output_tokens',
      'braintrust.metrics#completion_tokens',
    ],
  },
  reasoning: {
    genAi: [
      'gen_ai.usage.reasoning.output_tokens',
      'gen_ai.usage.reasoning_tokens',
      'gen_ai.usage.output_tokens.reasoning',
      'thoughts_token_count',
      'gen_ai.usage.thinking_tokens',
      'gen_ai.usage.details.reasoning_tokens',
    ],
    openInference: ['llm.token_count.completion_details.reasoning'],
    vercel: ['ai.usage.outputTokenDetails.reasoningTokens', 'ai.usage.reasoningTokens'],
    openLlmetry: ['llm.usage.reasoning_tokens', 'braintrust.metrics#completion_reasoning_tokens'],
  },
  total: {
    genAi: ['gen_ai.usage.total_tokens'],
    openInference: ['llm.token_count.total'],
    vercel: ['ai.usage.totalTokens', 'ai.usage.tokens'],
    openLlmetry: [
      'llm.usage.total_tokens',
      'mlflow.chat.tokenUsage#total_tokens',
      'braintrust.metrics#tokens',
    ],
  },
});

/** The counts of a call, by the rows above. */
export type Counts = Partial<Record<keyof typeof usageRows, number>>;
