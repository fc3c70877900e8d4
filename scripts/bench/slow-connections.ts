import { connect, type Socket } from 'node:net';

/** Every connection writes a byte this often; ingest gives a head 10 s, and a body 30 s. */
const byteMs = 2_000;

/** Connections opened in one go, and the pause after it: together 500 a second. */
const openedAtOnce = 50;
const openPauseMs = 100;

export interface SlowConnections {
  /** When all of them have been opened. */
  ready: Promise<void>;
  /** Those that ingest closed, and that were opened again. */
  closed(): number;
}

/** Opens connections that never finish a request, every other one in its head and in its body, and keeps that many. */
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
      // Not at once: a service that is down would have us spin.
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
