/** Providers, by the suffix of their host name. */
const sources: readonly (readonly [host: string, source: string])[] = [
  ['api.openai.com', 'openai'],
  ['openai.azure.com', 'azure'],
  ['services.ai.azure.com', 'azure'],
  ['cognitiveservices.azure.com', 'azure'],
  ['api.anthropic.com', 'anthropic'],
  ['amazonaws.com', 'aws'],
  ['generativelanguage.googleapis.com', 'google'],
  ['aiplatform.googleapis.com', 'google'],
  ['openrouter.ai', 'openrouter'],
  ['api.groq.com', 'groq'],
  ['api.mistral.ai', 'mistral'],
  ['api.deepseek.com', 'deepseek'],
  ['api.together.xyz', 'together'],
  ['api.fireworks.ai', 'fireworks'],
  ['api.cerebras.ai', 'cerebras'],
  ['api.perplexity.ai', 'perplexity'],
  ['api.x.ai', 'xai'],
  ['api.moonshot.ai', 'moonshot'],
  ['dashscope.aliyuncs.com', 'alibaba'],
  ['ai-gateway.vercel.sh', 'vercel'],
  ['gateway.ai.cloudflare.com', 'cloudflare'],
];

/** @returns the provider of a host, or undefined for an unknown host, such as a proxy. */
export function sourceOf(host: string): string | undefined {
  return sources.find(([known]) => host === known || host.endsWith(`.${known}`))?.[1];
}
