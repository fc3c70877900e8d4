import type { ServerResponse } from 'node:http';

/** A request to the provider. Tests choose the response by the first word of the model's name. */
export interface ProviderRequest {
  api: 'chat' | 'responses' | 'messages' | 'gemini' | 'ollama';
  body: {
    model: string;
    stream?: boolean;
    messages?: unknown[];
    input?: unknown;
    stream_options?: unknown;
  };
  /** X-Stainless-Retry-Count of the request. */
  attempt: number;
  response: ServerResponse;
}
