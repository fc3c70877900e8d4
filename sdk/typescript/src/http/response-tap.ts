/** What sees the bytes of a response as its reader takes them. Its methods must not throw. */
export interface ResponseSink {
  chunk(bytes: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** The reader lost its interest. */
  cancel(): void;
}

/**
 * Lets a sink see a response. The response that is returned looks like the given one: same bytes at the same time, same
 * errors, and nothing is read before its reader asks.
 */
export function tapResponse(response: Response, sink: ResponseSink): Response {
  const body: unknown = response.body;
  if (body === null || body === undefined) {
    sink.end();
    return response;
  }
  if (isNodeStream(body)) {
    tapNodeStream(body, sink);
    return response;
  }
  // The class of the response may be that of a fetch other than the global one.
  const ResponseClass = response.constructor as typeof Response;
  const { status, statusText, headers, url, redirected, type } = response;
  const stream = tapWebStream(body as ReadableStream<Bytes>, sink);
  const copy = new ResponseClass(stream, { status, statusText, headers });
  // A constructed response has none of these.
  for (const [name, value] of Object.entries({ url, redirected, type })) {
    Object.defineProperty(copy, name, { value, configurable: true });
  }
  return copy;
}

type Bytes = Uint8Array<ArrayBuffer>;

function tapWebStream(body: ReadableStream<Bytes>, sink: ResponseSink): ReadableStream<Bytes> {
  const isByteStream = hasByobReader(body);
  const reader = body.getReader();
  const source = {
    async pull(controller: ReadableStreamDefaultController<Bytes> | ReadableByteStreamController) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          // First: a byte stream takes the memory of the chunk away.
          sink.chunk(value);
          controller.enqueue(value);
          return;
        }
        sink.end();
        controller.close();
        if ('byobRequest' in controller) controller.byobRequest?.respond(0);
      } catch (error) {
        sink.fail(error);
        controller.error(error);
      }
    },
    cancel(reason: unknown) {
      sink.cancel();
      return reader.cancel(reason);
    },
  };
  // No reading ahead: the provider feels the reader's own pace.
  const strategy = { highWaterMark: 0 };
  if (!isByteStream) return new ReadableStream<Bytes>(source, strategy);
  return new ReadableStream({ ...source, type: 'bytes' }, strategy) as ReadableStream<Bytes>;
}

/** Readers that bring their own buffer work on byte streams only. */
function hasByobReader(body: ReadableStream): boolean {
  try {
    body.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** The part of Node's Readable that is needed: `node-fetch`, which old SDKs use, has such bodies. */
interface NodeStream {
  emit(event: string, ...args: unknown[]): boolean;
  pipe: unknown;
}

function isNodeStream(body: unknown): body is NodeStream {
  return typeof body === 'object' && body !== null && 'pipe' in body && 'emit' in body;
}

/** Every way to read such a stream emits `data` for each chunk, `read()` and `for await` too. */
function tapNodeStream(body: NodeStream, sink: ResponseSink): void {
  const { emit } = body;
  body.emit = function (event, ...args) {
    if (event === 'data' && args[0] instanceof Uint8Array) sink.chunk(args[0]);
    else if (event === 'end') sink.end();
    else if (event === 'error') sink.fail(args[0]);
    else if (event === 'close') sink.cancel();
    return emit.call(this, event, ...args);
  };
}
