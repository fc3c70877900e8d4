import { connect, type Socket } from 'node:net';

/** The server that postgres.js wants to connect to. */
interface Target {
  host: string[];
  port: number[];
  path?: string | false;
}

/**
 * Opens sockets for postgres.js. Its own sockets have Nagle's algorithm on, which costs 40 ms at every second
 * small write.
 *
 * A connection is closed when the server does not reply to sent data in time. When the server's machine fails
 * without closing the connection, TCP reports it only after a quarter of an hour, and the statement would
 * wait as long.
 *
 * The socket is returned while it still connects, and buffers writes meanwhile. Waiting here until it is
 * connected would break the pool: postgres.js never retries a connection whose socket promise was rejected,
 * so a pool in which every connection was refused once would never connect again. Nor would connect_timeout
 * apply.
 * @param silenceMsMax 0 for no limit.
 */
export function socketOpener(silenceMsMax: number): (target: Target) => Socket {
  return ({ host, port, path }) => {
    const socket = path ? connect(path) : connect(port[0] ?? 5432, host[0] ?? '127.0.0.1');
    let writtenAtAnswer = 0;
    socket.on('data', ({ length }) => {
      writtenAtAnswer = socket.bytesWritten;
      if (length >= socket.readableHighWaterMark) readOnInNextTurn(socket);
    });
    // Fires on an idle connection, too.
    socket.setTimeout(silenceMsMax).on('timeout', () => {
      if (socket.bytesWritten !== writtenAtAnswer) socket.destroy();
    });
    // With `verify-full` the certificate must have this name. postgres.js reads `host`, and Node `_host` for
    // an IP address: without them any server with a certificate for `localhost` would be accepted, and no
    // other.
    Object.assign(socket, { host: host[0], _host: host[0] });
    return emitErrorAtClose(socket).setNoDelay(true);
  };
}

/**
 * Reads a reply in several turns of the event loop: in one, Node would read up to 2 MB of it, whose rows take
 * postgres.js 100 ms.
 */
function readOnInNextTurn(socket: Socket): void {
  socket.pause();
  setImmediate(() => socket.resume());
}

/**
 * Emits an error at each close of a socket, and never before.
 *
 * Not before: Node closes a socket some ticks after its error. postgres.js neither sends nor rejects a query
 * that it receives in between; it keeps the query in the list of the next connection, and from then on pairs
 * replies with the wrong queries. A valid API key was answered with 401, and events that were not stored
 * could count as stored.
 *
 * At each: when a connection was closed under a query, and Postgres rejects the next one (it starts,
 * recovers, or allows no connections), postgres.js takes the rejection for a reply to the old query. At a
 * close without an error it connects again, without a pause, and the new query waits until Postgres accepts
 * connections.
 */
function emitErrorAtClose(socket: Socket): Socket {
  const emit = socket.emit.bind(socket);
  let failure: unknown[] = [new ConnectionClosedError('the connection to Postgres was closed')];
  socket.emit = (event: string | symbol, ...details: unknown[]) => {
    if (event === 'error') {
      failure = details;
      return true;
    }
    // Under TLS postgres.js listens to another socket, on top of this one.
    if (event === 'close' && socket.listenerCount('error') > 0) emit('error', ...failure);
    return emit(event, ...details);
  };
  return socket;
}

/** A connection was closed without another error. It has the code that postgres.js gives such errors. */
class ConnectionClosedError extends Error {
  override name = 'ConnectionClosedError';
  readonly code = 'CONNECTION_CLOSED';
}
