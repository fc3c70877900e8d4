/** Receives the bytes of a response when the application reads them. Its methods must not throw. */
export interface ResponseSink {
  chunk(bytes: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** The reader canceled the stream. */
  cancel(): void;
}

/**
 * Copies the bytes of a response to a sink. The returned response behaves like the given one: same bytes at the same time,
 * same errors, and nothing is read before the application reads. If that is not possible, the given one is returned.
 */
export function tapResponse(response: Response, sink: ResponseSink): Response {
  const body: unknown = response.body;
  if (isNodeStream(body)) {
    tapNodeStream(body, sink);
    return response;
  }
  // A custom fetch of the application may return any object.
  if (Object.prototype.toString.call(response) !== '[object Response]') return tapMembers(response, sink);
  if (body === null || body === undefined) {
    sink.end();
    return response;
  }
  const { stream, open } = tapWebStream(body as ReadableStream<Bytes>, sink);
  const copy = copyResponse(response, stream);
  // Take over the body last: if an earlier step fails, the application still has its own response.
  open();
  return copy;
}

/** The same response with another body. */
export function copyResponse(response: Response, body: ReadableStream<Bytes>): Response {
  const { status, statusText, headers, url, redirected, type } = response;
  // The response may be of a class other than the global Response.
  const ResponseClass = response.constructor as typeof Response;
  const copy = new ResponseClass(body, { status, statusText, headers });
  // The constructor copies none of these properties.
  for (const [name, value] of Object.entries({ headers, url, redirected, type })) {
    Object.defineProperty(copy, name, { value, configurable: true });
  }
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(response))) {
    Object.defineProperty(copy, name, { ...property, configurable: true });
  }
  return copy;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** @returns the stream for the application, and a function that takes over `body` and starts it. */
function tapWebStream(body: ReadableStream<Bytes>, sink: ResponseSink) {
  let reader: ReadableStreamDefaultReader<Bytes>;
  const source = {
    async pull(controller: ReadableStreamDefaultController<Bytes> | ReadableByteStreamController) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          // Before `enqueue`: a byte stream detaches the memory of the chunk.
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
  // Do not read ahead: back-pressure of the application must reach the provider.
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

/** Whether the body supports readers with their own buffer; only byte streams do. */
function hasByobReader(body: ReadableStream): boolean {
  try {
    body.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** The methods that read a whole body; the sink gets the text. */
const readers = ['text', 'json'] as const;

/** Observes an object that is similar to a Response, in place: its stream and the methods that read it. */
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

/** The part of Node's Readable that is used here. `node-fetch`, which old SDKs use, has such bodies. */
interface NodeStream {
  emit(event: string, ...args: unknown[]): boolean;
  pipe: unknown;
}

function isNodeStream(body: unknown): body is NodeStream {
  return typeof body === 'object' && body !== null && 'pipe' in body && 'emit' in body;
}

/** Observes `data` events, which such a stream emits for each chunk, also with `read()` and `for await`. */
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
