import type { WeirEvent } from '../../src/event/event.ts';

/** The observable result of a call, as plain data that can be compared. */
export type Observation = unknown;

/** Headers that differ between responses. */
const volatile = ['date', 'connection', 'keep-alive'];

export function describeResponse(response: Response): Observation {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !volatile.includes(name)));
  const { status, statusText, ok, redirected, type, bodyUsed, url } = response;
  // The URL is comparable, because bare and wrapped clients use the same provider.
  return {
    status,
    statusText,
    ok,
    redirected,
    type,
    bodyUsed,
    url,
    headers,
    class: response.constructor.name,
  };
}

/** The properties of an error that an application may use. */
export function describeError(error: unknown): Observation {
  if (!(error instanceof Error)) return { thrown: error };
  const { status, code, error: body, request_id: requestId } = error as Error & Record<string, unknown>;
  return {
    class: error.constructor.name,
    name: error.name,
    message: error.message,
    status,
    code,
    body,
    requestId,
    cause: error.cause instanceof Error ? describeError(error.cause) : error.cause,
  };
}

/** Runs a step and describes how it ended. */
export async function settle(step: () => Promise<unknown>): Promise<Observation> {
  try {
    return { value: plain(await step()) };
  } catch (error) {
    return { error: describeError(error) };
  }
}

/** All chunks of a stream, and how it ended. */
export async function collect(stream: AsyncIterable<unknown>): Promise<Observation> {
  const chunks: unknown[] = [];
  const end = await settle(async () => {
    for await (const chunk of stream) chunks.push(plain(chunk));
  });
  return { chunks, end };
}

/** Includes properties that are not enumerable, such as `_request_id`, because applications use them. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Response) return describeResponse(value);
  const requestId = Reflect.get(value, '_request_id');
  const data = JSON.parse(JSON.stringify(value));
  return requestId === undefined ? data : { data, requestId };
}

/** The compared fields of a recorded event. */
export function summarize({ status, properties, instrumentation }: WeirEvent) {
  const { llm } = properties;
  return {
    state: status.state,
    code: status.error?.code,
    httpStatus: status.error?.httpStatus,
    sourceFunction: instrumentation.sourceFunction,
    mode: llm?.output?.mode,
    response: llm?.output?.response,
    toolCalls: llm?.output?.toolCalls,
    retries: llm?.retries,
    totalTokens: llm?.usage?.totalTokens,
  };
}
