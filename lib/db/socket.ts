import { connect, type Socket } from 'node:net';

/** Where postgres.js wants a connection to. */
interface Target {
  host: string[];
  port: number[];
  path?: string | false;
}

/**
 * A maker of sockets for postgres.js, whose own ones cost 40 ms at every second small write (Nagle).
 *
 * A connection whose server does not answer what we have sent within a time is given up: when the machine at the other
 * end is gone without a word, TCP tells only after a quarter of an hour, and the statement would wait as long.
 *
 * The socket still connects when it is returned; what is written meanwhile waits in it. Waiting for it here instead
 * would lose the connection: postgres.js never retries one whose socket was rejected, so a pool that was refused by every
 * connection once would be dead for ever. Nor would connect_timeout run.
 *
 * @param silenceMsMax 0 waits for ever.
 */
export function socketOpener(silenceMsMax: number): (target: Target) => Socket {
  return ({ host, port, path }) => {
    const socket = path ? connect(path) : connect(port[0] ?? 5432, host[0] ?? '127.0.0.1');
    let writtenAtAnswer = 0;
    socket.on('data', () => {
      writtenAtAnswer = socket.bytesWritten;
    });
    // It comes when neither side has sent anything for so long: at rest, too, so more than once.
    socket.setTimeout(silenceMsMax).on('timeout', () => {
      // Without an error: postgres.js never answers what it is given between a socket's error and its close.
      if (socket.bytesWritten !== writtenAtAnswer) socket.destroy();
    });
    return failAsOne(socket).setNoDelay(true);
  };
}

/**
 * Tells of a failure in the same instant as of the close. Node closes a socket a moment after its error, and what
 * postgres.js is given in that moment it neither sends nor fails: it keeps its place among the questions of the connection
 * that is made next, and answers no longer meet their questions. A good API key was told that it is none; what was not
 * stored could count as stored.
 */
function failAsOne(socket: Socket): Socket {
  const emit = socket.emit.bind(socket);
  let failure: unknown[] | undefined;
  socket.emit = (event: string | symbol, ...details: unknown[]) => {
    if (event === 'error') {
      failure = details;
      return true;
    }
    if (event === 'close' && failure !== undefined) emit('error', ...failure);
    return emit(event, ...details);
  };
  return socket;
}
