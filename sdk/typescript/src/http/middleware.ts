import { runInScope } from '../event/context.ts';
import type { Observer } from './observed-fetch.ts';

/** The request of Anthropic's middleware: what `fetch` takes second, with the URL. */
interface MiddlewareRequest extends RequestInit {
  url: string;
}

/** Assignable to the type `Middleware` of `@anthropic-ai/sdk` from version 0.101 on. */
export type ObserverMiddleware = <R extends MiddlewareRequest>(
  request: R,
  next: (request: R) => Promise<Response>,
  context?: { readonly options?: object | undefined },
) => Promise<Response>;

/** Observes at the middleware of a client, which sees the same requests on every backend, Bedrock and Vertex too. */
export function createMiddleware(observer: Observer): ObserverMiddleware {
  return (request, next, context) =>
    // A fetch below that is observed as well stays silent.
    observer.send(request.url, request, context?.options, (changed) =>
      runInScope({ isSilent: true }, () =>
        next(changed === undefined ? request : { ...request, ...changed }),
      ),
    );
}
