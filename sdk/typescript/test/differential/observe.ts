import type { WeirEvent } from '../../src/event/event.ts';

/** What an application sees of a call, as plain data: two of these are compared. */
export type Observation = unknown;

/** Headers that differ from answer to answer. */
const volatile = ['date', 'connection', 'keep-alive'];

export function describeResponse(response: Response): Observation {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !volatile.includes(name)));
  const { status, statusText, ok, redirected, type, bodyUsed, url } = response;
  // Bare and wrapped clients talk to the same provider: the address is the same.
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

/** An error as an application may look at it. */
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

/** Properties that are not enumerable, such as `_request_id`, are part of what an application sees. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Response) return describeResponse(value);
  const requestId = Reflect.get(value, '_request_id');
  const data = JSON.parse(JSON.stringify(value));
  return requestId === undefined ? data : { data, requestId };
}

/** What is compared of a recorded event. */
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
