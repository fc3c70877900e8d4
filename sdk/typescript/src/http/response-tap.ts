/** Receives the bytes of a response when the application reads them. Its methods must not throw. */
export interface ResponseSink {
  chunk(bytes: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** The reader canceled the stream. */
  cancel(): void;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Changes the bytes that the application gets. The sink gets them as they came. */
export interface ByteFilter {
  push(bytes: Bytes): Bytes;
  /** @returns what is left at the end of the stream. */
  end(): Bytes;
}

/**
 * Copies the bytes of a response to a sink. The returned response behaves like the given one: same bytes at
 * the same time, same errors, and nothing is read before the application reads. What cannot be observed
 * passes unchanged.
 */
export function tapResponse(response: Response, sink: ResponseSink, filter?: ByteFilter): Response {
  const body: unknown = response.body;
  if (isNodeStream(body)) {
    tapNodeStream(body, sink);
    return response;
  }
  if (!isCopyable(response)) return tapMembers(response, sink, filter);
  if (body === null || body === undefined) {
    sink.end();
    return response;
  }
  const { stream, open } = tapWebStream(body as ReadableStream<Bytes>, sink, filter);
  const copy = copyResponse(response, stream);
  // Take over the body last: if an earlier step fails, the application still has its own response.
  open();
  return copy;
}

/**
 * Whether the constructor of a response makes an equal one: of the platform's class, or of an equal one such
 * as undici's. A subclass, a proxy, or an object that only resembles a response has state that a copy would
 * not have.
 */
function isCopyable(response: Response): boolean {
  try {
    const prototype: object = Object.getPrototypeOf(response);
    const status = Object.getOwnPropertyDescriptor(prototype, 'status')?.get;
    // Throws for an object that is not an instance, such as a proxy.
    return status?.call(response) === response.status && Object.hasOwn(prototype, Symbol.toStringTag);
  } catch {
    return false;
  }
}

/** A copy of a response, with another body. */
function copyResponse(response: Response, body: ReadableStream<Bytes>): Response {
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

/**
 * @returns the stream for the application, and a function that takes over `body`, which the first read calls
 * otherwise: until then the body can be read in another way.
 */
function tapWebStream(body: ReadableStream<Bytes>, sink: ResponseSink, filter: ByteFilter | undefined) {
  let reader: ReadableStreamDefaultReader<Bytes> | undefined;
  const open = () => {
    reader ??= body.getReader();
    return reader;
  };
  /** @returns the next bytes for the application; undefined at the end. */
  const read = async (): Promise<Bytes | undefined> => {
    for (;;) {
      const { done, value } = await open().read();
      if (done) return undefined;
      // Before the application gets it: a byte stream detaches the memory of the chunk.
      sink.chunk(value);
      const passed = filter && value instanceof Uint8Array ? filter.push(value) : value;
      if (!filter || passed.length > 0) return passed;
    }
  };
  const source = {
    async pull(controller: ReadableStreamDefaultController<Bytes> | ReadableByteStreamController) {
      try {
        const bytes = await read();
        if (bytes !== undefined) return controller.enqueue(bytes);
        reader?.releaseLock();
        sink.end();
        const rest = filter?.end();
        if (rest && rest.length > 0) controller.enqueue(rest);
        controller.close();
        if ('byobRequest' in controller) controller.byobRequest?.respond(0);
      } catch (error) {
        sink.fail(error);
        controller.error(error);
      }
    },
    async cancel(reason: unknown) {
      sink.cancel();
      await open().cancel(reason);
      reader?.releaseLock();
    },
  };
  // Do not read ahead: back-pressure of the application must reach the provider.
  const strategy = { highWaterMark: 0 };
  const stream = hasByobReader(body)
    ? (new ReadableStream({ ...source, type: 'bytes' }, strategy) as ReadableStream<Bytes>)
    : new ReadableStream<Bytes>(source, strategy);
  return { stream, open };
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

/**
 * Observes a response that cannot be copied, in place: the methods that read it, and its stream if the
 * application reads that. Each calls the response's own, which may use the other: the sink gets the content
 * once.
 */
function tapMembers(response: Response, sink: ResponseSink, filter: ByteFilter | undefined): Response {
  let isStreamed = false;
  const once: ResponseSink = {
    ...{ end: () => sink.end(), fail: (error) => sink.fail(error), cancel: () => sink.cancel() },
    chunk(bytes) {
      isStreamed = true;
      sink.chunk(bytes);
    },
  };
  for (const name of readers) {
    const read: unknown = response[name];
    if (typeof read !== 'function') continue;
    const pass = (result: unknown) => {
      if (isStreamed) return result;
      noteResult(sink, result);
      return filter && typeof result === 'string' ? filterText(filter, result) : result;
    };
    const fail = (error: unknown) => {
      if (!isStreamed) sink.fail(error);
      throw error;
    };
    const value = function (this: unknown, ...args: unknown[]) {
      const result: unknown = read.apply(this, args);
      return result instanceof Promise ? result.then(pass, fail) : pass(result);
    };
    Object.defineProperty(response, name, { value, configurable: true, writable: true });
  }
  if (response.body instanceof ReadableStream) tapBodyMember(response, once, filter);
  return response;
}

const encoder = new TextEncoder();

function noteResult(sink: ResponseSink, result: unknown): void {
  try {
    const text = typeof result === 'string' ? result : JSON.stringify(result);
    sink.chunk(encoder.encode(text));
    sink.end();
  } catch {
    // The application's own method may return anything: the call is recorded without its content.
  }
}

function filterText(filter: ByteFilter, text: string): string {
  const decoder = new TextDecoder();
  return decoder.decode(filter.push(encoder.encode(text))) + decoder.decode(filter.end());
}

/** Reads the response's own `body` each time: `clone()` replaces it. */
function tapBodyMember(response: Response, sink: ResponseSink, filter: ByteFilter | undefined): void {
  const { get, value } = findProperty(response, 'body');
  let known: unknown;
  let tapped: unknown;
  Object.defineProperty(response, 'body', {
    // Not an arrow function: behind a proxy only its target has the body.
    get(this: unknown) {
      const body: unknown = get ? get.call(this) : value;
      if (body !== known) {
        known = body;
        tapped = body instanceof ReadableStream ? tapWebStream(body, sink, filter).stream : body;
      }
      return tapped;
    },
    configurable: true,
  });
}

function findProperty(target: object, name: string): PropertyDescriptor {
  for (let holder = target; holder !== null; holder = Object.getPrototypeOf(holder)) {
    const property = Object.getOwnPropertyDescriptor(holder, name);
    if (property) return property;
  }
  return {};
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
