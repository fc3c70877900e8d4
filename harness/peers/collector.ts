import { createHash } from 'node:crypto';
import { cpSync, createReadStream, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseFreePorts } from '../../launcher/provision/ports.ts';
import { buildOnce } from '../tools/build-cache.ts';
import { readVersions } from '../tools/toolchain.ts';
import { installTimeoutMs, type Peer, type PeerHost } from './peer.ts';
import { startPeerProcess } from './process.ts';

/** The last release all of whose modules Go's public proxy has. */
const version = 'v0.128.0';
const modules = [
  `go.opentelemetry.io/collector/otelcol@${version}`,
  `go.opentelemetry.io/collector/receiver/otlpreceiver@${version}`,
  `github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter@${version}`,
  // Of the same release.
  'go.opentelemetry.io/collector/confmap/provider/fileprovider@v1.34.0',
];
const commands = ['go mod init collector', `go get ${modules.join(' ')}`, 'go build -o collector .'];
const source = fileURLToPath(new URL('collector/main.go', import.meta.url));

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
    const built = await buildOnce({
      name: 'peer-collector',
      hash: createHash('sha256')
        .update(readVersions(['go']) + commands.join('\n') + readFileSync(source, 'utf8'))
        .digest('hex')
        .slice(0, 16),
      folder: '.',
      commands,
      timeoutMs: installTimeoutMs,
      write: (directory) => cpSync(source, join(directory, 'main.go')),
    });
    return {
      name: 'OpenTelemetry Collector, file exporter',
      version: version.slice(1),
      answersAfter: 'a write without fsync',
      start: (host) => start(join(built, 'collector'), host),
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

/** @returns a function that counts the spans in the file so far. It reads only what was added since its last call. */
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
