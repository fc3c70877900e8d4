import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A way to a service on which the first answer is lost, after the service has done what it was asked. */
export interface LostAnswer extends AsyncDisposable {
  readonly url: string;
  /** How many answers were lost so far: 0 or 1. */
  readonly lost: number;
}

/** Passes connections on to the service at `url`, and breaks the one on which the first answer begins. */
export async function loseFirstAnswer(url: string): Promise<LostAnswer> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const close = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', close);
      socket.on('close', () => {
        sockets.delete(socket);
        close();
      });
    }
    client.pipe(upstream);
    const isAnswer = watchForAnswer();
    upstream.on('data', (chunk: Buffer) => {
      if (lost === 0 && isAnswer(chunk)) {
        lost++;
        close();
      } else client.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address?.port}`,
    get lost() {
      return lost;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Tells for each chunk of a connection's answers whether an answer has begun: in HTTP/2, whether a HEADERS frame came. */
function watchForAnswer(): (chunk: Buffer) => boolean {
  let unread = Buffer.alloc(0);
  return (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    if (unread.subarray(0, 5).toString() === 'HTTP/') return true;
    while (unread.length >= 9) {
      if (unread[3] === 1) return true;
      const frameBytes = 9 + unread.readUIntBE(0, 3);
      if (unread.length < frameBytes) return false;
      unread = unread.subarray(frameBytes);
    }
    return false;
  };
}
