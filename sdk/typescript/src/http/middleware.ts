import { runInScope } from '../event/context.ts';
import type { Observer } from './observed-fetch.ts';

/** The request of Anthropic's middleware: the second argument of `fetch`, with the URL. */
interface MiddlewareRequest extends RequestInit {
  url: string;
}

/** Assignable to the type `Middleware` of `@anthropic-ai/sdk` from version 0.101 on. */
export type ObserverMiddleware = <R extends MiddlewareRequest>(
  request: R,
  next: (request: R) => Promise<Response>,
  context?: { readonly options?: { readonly signal?: AbortSignal | null | undefined } | undefined },
) => Promise<Response>;

/**
 * Observes requests in a client's middleware, where they are the same on every backend, including Bedrock and
 * Vertex.
 */
export function createMiddleware(observer: Observer): ObserverMiddleware {
  return (request, next, context) =>
    // An observed fetch below does not record the call again.
    observer.send({ input: request.url, init: request, client: context?.options }, (changed) =>
      runInScope({ isSilent: true }, () =>
        next(changed === undefined ? request : { ...request, ...changed }),
      ),
    );
}
