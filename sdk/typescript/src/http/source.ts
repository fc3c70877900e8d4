/** Providers that are named like their host: `api.mistral.ai`. */
const named =
  /(?:^|\.)api\.(openai|anthropic|groq|mistral|deepseek|together|fireworks|cerebras|perplexity|moonshot)\.(?:com|ai|xyz)$/;

/** Other providers, by the suffix of their host name. */
const sources: readonly (readonly [host: string, source: string])[] = [
  ['azure.com', 'azure'],
  ['amazonaws.com', 'aws'],
  ['googleapis.com', 'google'],
  ['openrouter.ai', 'openrouter'],
  ['api.x.ai', 'xai'],
  ['dashscope.aliyuncs.com', 'alibaba'],
  ['ai-gateway.vercel.sh', 'vercel'],
  ['gateway.ai.cloudflare.com', 'cloudflare'],
];

/** @returns the provider of a host, or undefined for an unknown host, such as a proxy. */
export function sourceOf(host: string): string | undefined {
  return (
    named.exec(host)?.[1] ?? sources.find(([known]) => host === known || host.endsWith(`.${known}`))?.[1]
  );
}
