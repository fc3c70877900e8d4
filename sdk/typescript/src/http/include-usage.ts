import type { Adapter } from '../wire/adapter.ts';
import { sliceMembers } from '../wire/json-slice.ts';
import { asObject } from '../wire/read.ts';
import { SseSplitter } from '../wire/sse.ts';
import type { ObservedRequest } from './request.ts';
import type { ByteFilter } from './response-tap.ts';

const changed = new WeakSet<ObservedRequest>();

/** Whether the usage of this stream was requested by the SDK, not by the application. */
export function isUsageAdded(request: ObservedRequest): boolean {
  return changed.has(request);
}

/**
 * Requests the usage of a chat stream, if the application does not.
 *
 * @returns the changed `init`, or undefined when no change is needed.
 */
export function addUsageOption(
  adapter: Adapter,
  request: ObservedRequest,
  init: RequestInit | undefined,
): RequestInit | undefined {
  if (!adapter.hasUsageOption || request.body === undefined) return undefined;
  try {
    const { stream, stream_options: options } = asObject(JSON.parse(request.body));
    if (stream !== true || asObject(options).include_usage !== undefined) return undefined;
    const members = sliceMembers(request.body);
    members.set('stream_options', JSON.stringify({ ...asObject(options), include_usage: true }));
    const body = `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
    const headers = new Headers(request.headers);
    if (headers.has('content-length')) {
      headers.set('content-length', String(new TextEncoder().encode(body).length));
    }
    changed.add(request);
    return { ...init, headers, body };
  } catch {
    return undefined;
  }
}

/**
 * Removes the additions of requested usage from a stream: the last chunk, which has no choices, and
 * `"usage":null` in all others.
 */
export class UsageFilter implements ByteFilter {
  readonly #decoder = new TextDecoder();
  readonly #encoder = new TextEncoder();
  readonly #splitter = new SseSplitter();

  push(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    return this.#strip(this.#splitter.push(this.#decoder.decode(bytes, { stream: true })));
  }

  end(): Uint8Array<ArrayBuffer> {
    return this.#strip([this.#splitter.takeRest()]);
  }

  #strip(events: readonly string[]): Uint8Array<ArrayBuffer> {
    return this.#encoder.encode(events.map(stripEvent).join(''));
  }
}

function stripEvent(event: string): string {
  const isUsage = /^data:.*"choices":\s*\[\]/m.test(event) && /"usage":\s*\{/.test(event);
  return isUsage ? '' : event.replace(/,\s*"usage":\s*null(?=\s*[,}])/, '');
}
