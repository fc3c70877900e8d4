import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Pipeline } from '../pipeline.ts';
import { until } from '../wait.ts';

/** HTTP/2 frames as bytes (RFC 9113 §6), for requests that no client library would send. */

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
type FrameType = keyof typeof frameTypes;

export const flags = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const;

export const clientPreface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export interface Frame {
  type: FrameType | undefined;
  flags: number;
  streamId: number;
  payload: Buffer;
}

export function frame(
  type: FrameType | number,
  { flags = 0, streamId = 0, payload = Buffer.alloc(0) }: Partial<Omit<Frame, 'type'>> = {},
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(typeof type === 'number' ? type : frameTypes[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** The first bytes of a connection. */
export const opening = Buffer.concat([clientPreface, frame('settings')]);

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A header block of literals without indexing or Huffman coding (RFC 7541 §6.2.2). */
export function headerBlock(headers: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(
    headers.flatMap(([name, value]) => [Buffer.from([0]), headerText(name), headerText(value)]),
  );
}

function headerText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

/** The headers of a batch request, with some added or replaced. */
export function postHeaders(
  apiKey: string,
  more: readonly (readonly [string, string])[] = [],
): (readonly [string, string])[] {
  return [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'weir.test'],
    [':path', '/v1/ingest-events'],
    ['authorization', `Bearer ${apiKey}`],
    ...more,
  ];
}

/** A HEADERS frame with a complete header block. */
export function headersFrame(
  streamId: number,
  headers: readonly (readonly [string, string])[],
  isLast = false,
): Buffer {
  const flag = flags.endHeaders | (isLast ? flags.endStream : 0);
  return frame('headers', { flags: flag, streamId, payload: headerBlock(headers) });
}

/** A connection with access to its raw bytes and the received frames. */
export class RawConnection implements Disposable {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  /** All received bytes, whether or not they are frames. */
  received = Buffer.alloc(0);
  readonly closed: Promise<unknown>;
  #rest = Buffer.alloc(0);

  static async open({ url }: Pick<Pipeline, 'url'>, ...first: Buffer[]): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    const connection = new RawConnection(socket);
    connection.send(...first);
    return connection;
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    // A closed connection may report a reset.
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes]);
      this.#rest = Buffer.concat([this.#rest, bytes]);
      while (this.#takeFrame());
    });
  }

  send(...bytes: Buffer[]): void {
    if (bytes.length > 0 && this.socket.writable) this.socket.write(Buffer.concat(bytes));
  }

  /** Waits for the first frame of this type on this stream. */
  async untilFrame(type: FrameType, streamId?: number): Promise<Frame> {
    const find = () =>
      this.frames.find(
        (frame) => frame.type === type && (streamId === undefined || frame.streamId === streamId),
      );
    await until(() => find() !== undefined || this.socket.closed);
    const found = find();
    if (found === undefined) throw new Error(`the connection was closed without a frame ${type}`);
    return found;
  }

  #takeFrame(): boolean {
    if (this.#rest.length < 9) return false;
    const length = this.#rest.readUIntBE(0, 3);
    if (this.#rest.length < 9 + length) return false;
    const number = this.#rest.readUInt8(3);
    this.frames.push({
      type: (Object.keys(frameTypes) as FrameType[]).find((name) => frameTypes[name] === number),
      flags: this.#rest.readUInt8(4),
      streamId: this.#rest.readUInt32BE(5) & 0x7fffffff,
      payload: this.#rest.subarray(9, 9 + length),
    });
    this.#rest = this.#rest.subarray(9 + length);
    return true;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
