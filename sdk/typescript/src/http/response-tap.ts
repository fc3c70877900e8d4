/** What sees the bytes of a response as its reader takes them. Its methods must not throw. */
export interface ResponseSink {
  chunk(bytes: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** The reader canceled the stream. */
  cancel(): void;
}

/**
 * Lets a sink see a response. The response that is returned looks like the given one: same bytes at the same time, same
 * errors, and nothing is read before its reader asks. If that is not possible, it is the given one.
 */
export function tapResponse(response: Response, sink: ResponseSink): Response {
  const body: unknown = response.body;
  if (isNodeStream(body)) {
    tapNodeStream(body, sink);
    return response;
  }
  // A fetch of the application's own may return any object.
  if (Object.prototype.toString.call(response) !== '[object Response]') return tapMembers(response, sink);
  if (body === null || body === undefined) {
    sink.end();
    return response;
  }
  const { stream, open } = tapWebStream(body as ReadableStream<Bytes>, sink);
  const copy = copyResponse(response, stream);
  // Only now: until here, a failure leaves the application its own response.
  open();
  return copy;
}

/** The same response with another body. */
export function copyResponse(response: Response, body: ReadableStream<Bytes>): Response {
  const { status, statusText, headers, url, redirected, type } = response;
  // The class of the response may be that of a fetch other than the global one.
  const ResponseClass = response.constructor as typeof Response;
  const copy = new ResponseClass(body, { status, statusText, headers });
  // A constructed response has headers of its own, and none of the others.
  for (const [name, value] of Object.entries({ headers, url, redirected, type })) {
    Object.defineProperty(copy, name, { value, configurable: true });
  }
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(response))) {
    Object.defineProperty(copy, name, { ...property, configurable: true });
  }
  return copy;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** @returns the stream to hand out, and what begins it by taking over `body`. */
function tapWebStream(body: ReadableStream<Bytes>, sink: ResponseSink) {
  let reader: ReadableStreamDefaultReader<Bytes>;
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
        reader.releaseLock();
        sink.end();
        controller.close();
        if ('byobRequest' in controller) controller.byobRequest?.respond(0);
      } catch (error) {
        sink.fail(error);
        controller.error(error);
      }
    },
    async cancel(reason: unknown) {
      sink.cancel();
      await reader.cancel(reason);
      reader.releaseLock();
    },
  };
  // No reading ahead: the provider is read at the pace of the application.
  const strategy = { highWaterMark: 0 };
  const stream = hasByobReader(body)
    ? (new ReadableStream({ ...source, type: 'bytes' }, strategy) as ReadableStream<Bytes>)
    : new ReadableStream<Bytes>(source, strategy);
  return {
    stream,
    open() {
      reader = body.getReader();
    },
  };
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

/** The ways to read a body as a whole; the sink gets its text. */
const readers = ['text', 'json'] as const;

/** Observes an object that only looks like a response in place, at its stream and at the methods that read it. */
function tapMembers(response: Response, sink: ResponseSink): Response {
  const encoder = new TextEncoder();
  for (const name of readers) {
    const read: unknown = response[name];
    if (typeof read !== 'function') continue;
    const value = async function (this: unknown, ...args: unknown[]) {
      try {
        const result: unknown = await read.apply(this, args);
        sink.chunk(encoder.encode(typeof result === 'string' ? result : JSON.stringify(result)));
        sink.end();
        return result;
      } catch (error) {
        sink.fail(error);
        throw error;
      }
    };
    Object.defineProperty(response, name, { value, configurable: true, writable: true });
  }
  const { body } = response;
  if (body instanceof ReadableStream) tapBodyMember(response, body, sink);
  return response;
}

function tapBodyMember(response: Response, body: ReadableStream<Bytes>, sink: ResponseSink): void {
  let tapped: ReadableStream<Bytes> | undefined;
  const get = () => {
    if (tapped === undefined) {
      const { stream, open } = tapWebStream(body, sink);
      open();
      tapped = stream;
    }
    return tapped;
  };
  Object.defineProperty(response, 'body', { get, configurable: true });
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
