import { createHash } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Build, buildOnce } from './build-cache.ts';
import { readVersions } from './toolchain.ts';

const source = fileURLToPath(new URL('collector/main.go', import.meta.url));

/** The last release all of whose modules Go's public proxy has. */
export const collectorVersion = '0.128.0';
const modules = [
  `go.opentelemetry.io/collector/otelcol@v${collectorVersion}`,
  `go.opentelemetry.io/collector/receiver/otlpreceiver@v${collectorVersion}`,
  `go.opentelemetry.io/collector/exporter/otlphttpexporter@v${collectorVersion}`,
  `github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter@v${collectorVersion}`,
  `github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage@v${collectorVersion}`,
  // Of the same release.
  'go.opentelemetry.io/collector/confmap/provider/fileprovider@v1.34.0',
];
// Without `go mod tidy`: it needs the modules of the modules' tests too, and not every proxy has them.
const commands = ['go mod init collector', `go get ${modules.join(' ')}`, 'go build -o collector .'];

/**
 * Builds OpenTelemetry's Collector from the parts that tests and the comparison of peers need.
 *
 * @returns its file. @throws PackagesUnreachableError
 */
export async function buildCollector({ timeoutMs }: Pick<Build, 'timeoutMs'> = {}): Promise<string> {
  const inputs = [readVersions(['go']), ...commands, readFileSync(source, 'utf8')].join('\n');
  const directory = await buildOnce({
    name: 'collector',
    hash: createHash('sha256').update(inputs).digest('hex').slice(0, 16),
    write: (folder) => cpSync(source, join(folder, 'main.go')),
    folder: '.',
    commands,
    timeoutMs,
  });
  return join(directory, 'collector');
}
