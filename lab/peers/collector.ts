import { createReadStream, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buildCollector, collectorVersion } from '../../harness/tools/collector.ts';
import { chooseFreePorts } from '../../launcher/provision/ports.ts';
import { installTimeoutMs, type Peer, type PeerHost } from './peer.ts';
import { startPeerProcess } from './process.ts';

const configOf = (port: number, file: string) => `receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:${port}
exporters:
  file:
    path: ${file}
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [file]
`;

/** The floor: it reads the spans and writes them to a file, in no database and without fsync. */
export const collectorInstaller = {
  name: 'OpenTelemetry Collector',
  tools: ['go'] as const,
  install: async (): Promise<Peer> => {
    const program = await buildCollector({ timeoutMs: installTimeoutMs });
    return {
      name: 'OpenTelemetry Collector, file exporter',
      version: collectorVersion,
      answersAfter: 'a write without fsync',
      start: (host) => start(program, host),
    };
  },
};

async function start(program: string, { directory }: PeerHost) {
  await using stack = new AsyncDisposableStack();
  const [port = 0] = await chooseFreePorts(1);
  const file = join(directory, 'spans.json');
  const configFile = join(directory, 'collector.yaml');
  writeFileSync(configFile, configOf(port, file));
  stack.defer(() => rmSync(file, { force: true }));
  const url = `http://127.0.0.1:${port}/v1/traces`;
  stack.use(
    await startPeerProcess({
      name: 'collector',
      command: [program, '--config', configFile],
      env: {},
      directory,
      readyUrl: url,
    }),
  );
  const counter = countNewSpans(file);
  const owned = stack.move();
  return {
    url,
    headers: { 'content-type': 'application/x-protobuf' },
    status: 200,
    countStored: counter,
    countBytes: async () => (await stat(file)).size,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * @returns a function that counts the spans in the file so far. It reads only what was added since its last
 * call.
 */
function countNewSpans(file: string): () => Promise<number> {
  const mark = Buffer.from('"spanId":');
  let readTo = 0;
  let spans = 0;
  return async () => {
    const { size } = await stat(file);
    if (size === readTo) return spans;
    let tail = Buffer.alloc(0);
    for await (const chunk of createReadStream(file, { start: readTo, end: size - 1 })) {
      const text = Buffer.concat([tail, chunk]);
      for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) spans += 1;
      // A mark may be cut by the end of a chunk.
      tail = text.subarray(Math.max(0, text.length - mark.length + 1));
    }
    // Read again later: a mark may also be cut by the end of the file.
    readTo = size;
    return spans;
  };
}
