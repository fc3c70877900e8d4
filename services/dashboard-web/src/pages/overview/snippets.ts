import curlReadme from '../../../../../examples/clients/curl/README.md?raw';
import curl from '../../../../../examples/clients/curl/send-events.sh?raw';
import goModule from '../../../../../examples/clients/go-http/go.mod?raw';
import go from '../../../../../examples/clients/go-http/main.go?raw';
import goReadme from '../../../../../examples/clients/go-http/README.md?raw';
import nodeReadme from '../../../../../examples/clients/node-fetch/README.md?raw';
import node from '../../../../../examples/clients/node-fetch/send-events.mjs?raw';
import python from '../../../../../examples/first-event/record_calls.py?raw';
import sdk from '../../../../../examples/first-event/record-calls.mjs?raw';
import span from '../../../../../examples/first-event/send-span.mjs?raw';
import pythonProject from '../../../../../sdk/python/pyproject.toml?raw';

export interface Snippet {
  value: string;
  label: string;
  /** Shell commands that write the program into the current folder and run it there. */
  paste: string;
}

/** The packages of the OpenTelemetry program, in the versions that the tests run it with. */
const otelPackages = [
  '@opentelemetry/api@1.10.0',
  '@opentelemetry/sdk-trace@3.1.0',
  '@opentelemetry/exporter-trace-otlp-proto@0.301.0',
].join(' ');

/** pip takes the version of a package from the name of its file, which the dashboard serves. */
const wheel = `weir_sdk-${/^version = "(.*)"$/m.exec(pythonProject)?.[1]}-py3-none-any.whl`;

/** Without a package.json npm would install into a folder above. */
const initNpm = `echo '{"private":true}' > package.json`;

/**
 * @param urls of ingest and of the dashboard, which serves the SDK's package.
 * @param apiKey is given to every program in the environment, never in its code.
 */
export function makeSnippets(urls: { ingest: string; dashboard: string }, apiKey: string): Snippet[] {
  const weir = [`export WEIR_URL=${urls.ingest}`, `export WEIR_API_KEY=${apiKey}`];
  const otel = [
    `export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${urls.ingest}/v1/traces`,
    `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${apiKey}"`,
  ];
  return [
    snippet('sdk', 'TypeScript SDK', [
      ...weir,
      initNpm,
      `npm install ${urls.dashboard}/weir-sdk.tgz`,
      writeFile('record-calls.mjs', sdk),
      'node record-calls.mjs',
    ]),
    snippet('otlp', 'OpenTelemetry', [
      ...otel,
      initNpm,
      `npm install ${otelPackages}`,
      writeFile('send-span.mjs', span),
      'node send-span.mjs',
    ]),
    snippet('curl', 'curl', [...weir, writeFile('send-events.sh', curl), commandOf(curlReadme)]),
    snippet('python', 'Python', [
      ...weir,
      'python3 -m venv .venv',
      `.venv/bin/pip install ${urls.dashboard}/${wheel}`,
      writeFile('record_calls.py', python),
      '.venv/bin/python record_calls.py',
    ]),
    snippet('node', 'Node', [...weir, writeFile('send-events.mjs', node), commandOf(nodeReadme)]),
    snippet('go', 'Go', [
      ...weir,
      writeFile('go.mod', goModule),
      writeFile('main.go', go),
      commandOf(goReadme),
    ]),
  ];
}

function snippet(value: string, label: string, lines: readonly string[]): Snippet {
  return { value, label, paste: lines.join('\n') };
}

/** A here-document: the shell writes the text as it is. */
function writeFile(name: string, text: string): string {
  return `cat > ${name} <<'END_OF_FILE'\n${text.trimEnd()}\nEND_OF_FILE`;
}

/** The commands of a client's README, which its test runs. */
function commandOf(readme: string): string {
  const command = /^```sh\n(.*?)\n```$/ms.exec(readme)?.[1];
  if (command === undefined) throw new Error('the README of a client has no commands');
  return command;
}
