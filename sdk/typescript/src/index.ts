import { chatCompletions } from './adapters/chat.ts';
import { messages } from './adapters/messages.ts';
import { responses } from './adapters/responses.ts';
import { Recorder } from './core/recorder.ts';
import { createMiddleware, type ObserverMiddleware } from './http/middleware.ts';
import { observeClient } from './http/observe-client.ts';
import { type Fetch, type ObserveOptions, Observer } from './http/observed-fetch.ts';

export * from './core.ts';
export type { Fetch, ObserveOptions, ObserverMiddleware };

const adapters = [chatCompletions, responses, messages];

/**
 * Records the LLM and tool calls of a program and delivers them to Weir.
 *
 *     const weir = new Weir();                       // WEIR_URL, WEIR_API_KEY
 *     const openai = weir.observe(new OpenAI());
 */
export class Weir extends Recorder {
  /**
   * Records the calls of a client of `openai` or `@anthropic-ai/sdk`. Changes the client in place and returns
   * it.
   */
  observe<T extends object>(client: T, options: ObserveOptions = {}): T {
    return observeClient(this.#observer(options), client);
  }

  /**
   * A fetch that records the calls of OpenAI's and Anthropic's APIs, for clients that take one.
   *
   * @param base the fetch that sends the requests. Default: the global one.
   */
  fetch(options: ObserveOptions = {}, base?: Fetch): Fetch {
    return this.#observer(options).wrap(base);
  }

  /**
   * A middleware for `new Anthropic({ middleware: [ … ] })`, from version 0.101 of `@anthropic-ai/sdk` on.
   */
  anthropic(options: ObserveOptions = {}): ObserverMiddleware {
    return createMiddleware(this.#observer(options));
  }

  #observer(options: ObserveOptions): Observer {
    return new Observer({ ...options, recorder: this, adapters });
  }
}
