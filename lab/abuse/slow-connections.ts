import { connect, type Socket } from 'node:net';

/** The interval at which a connection writes one byte. Ingest allows 10 s for a head and 30 s for a body. */
const byteMs = 2_000;

/** The number of connections opened at once, and the pause after them: 500 per second. */
const openedAtOnce = 50;
const openPauseMs = 100;

export interface SlowConnections {
  /** Resolves when all have been opened. */
  ready: Promise<void>;
  /** The number that ingest closed and that were reopened. */
  closed(): number;
}

/**
 * Opens connections that never finish a request, half of them in the head and half in the body, and reopens
 * closed ones.
 */
export function openSlowConnections(ingestUrl: string, apiKey: string, count: number): SlowConnections {
  const { hostname, port } = new URL(ingestUrl);
  const requestLine = 'POST /v1/ingest-events HTTP/1.1\r\nHost: x\r\n';
  const kinds = [
    { first: requestLine, byte: 'y' },
    {
      first: `${requestLine}Authorization: Bearer ${apiKey}\r\nContent-Length: 1000000\r\n\r\n{"events":[`,
      byte: ' ',
    },
  ];
  let closed = 0;
  const open = (index: number): void => {
    const { first = '', byte = '' } = kinds[index % kinds.length] ?? {};
    const socket: Socket = connect(Number(port), hostname, () => socket.write(first));
    const timer = setInterval(() => socket.writable && socket.write(byte), byteMs);
    socket.on('error', () => {}).resume();
    socket.once('close', () => {
      clearInterval(timer);
      closed += 1;
      // With a pause, to avoid a busy loop while the service is down.
      setTimeout(() => open(index), openPauseMs);
    });
  };
  return { ready: openAll(count, open), closed: () => closed };
}

async function openAll(count: number, open: (index: number) => void): Promise<void> {
  for (let index = 0; index < count; index++) {
    open(index);
    if (index % openedAtOnce === 0) await new Promise((resolve) => setTimeout(resolve, openPauseMs));
  }
}
