import { TcpProxy } from '../../harness/network/tcp-proxy.ts';

/**
 * A proxy in front of a service that loses the first response, after the service has processed the request.
 */
export interface LostResponse extends AsyncDisposable {
  readonly url: string;
  /** The number of responses lost so far: 0 or 1. */
  lost(): number;
}

/** Resets the connection on which the first response begins; forwards everything afterwards. */
export async function loseFirstResponse(url: string): Promise<LostResponse> {
  const proxy = await TcpProxy.open(Number(new URL(url).port));
  let lost = 0;
  proxy.makeReplyFilter = () => {
    const hasResponse = createResponseDetector();
    return (chunk) => {
      if (lost > 0 || !hasResponse(chunk)) return chunk;
      lost += 1;
      return undefined;
    };
  };
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    lost: () => lost,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

/**
 * Detects in a server's bytes whether a response has begun; over HTTP/2, whether a HEADERS frame has arrived.
 */
function createResponseDetector(): (chunk: Buffer) => boolean {
  const headersFrame = 1;
  let unread = Buffer.alloc(0);
  return (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    if (unread.subarray(0, 5).toString() === 'HTTP/') return true;
    while (unread.length >= 9) {
      if (unread[3] === headersFrame) return true;
      const frameBytes = 9 + unread.readUIntBE(0, 3);
      if (unread.length < frameBytes) return false;
      unread = unread.subarray(frameBytes);
    }
    return false;
  };
}
