import curlReadme from '../../../../../examples/clients/curl/README.md?raw';
import curl from '../../../../../examples/clients/curl/send-events.sh?raw';
import goModule from '../../../../../examples/clients/go-http/go.mod?raw';
import go from '../../../../../examples/clients/go-http/main.go?raw';
import goReadme from '../../../../../examples/clients/go-http/README.md?raw';
import nodeReadme from '../../../../../examples/clients/node-connect/README.md?raw';
import node from '../../../../../examples/clients/node-connect/send-events.js?raw';
import pythonReadme from '../../../../../examples/clients/python-requests/README.md?raw';
import requirements from '../../../../../examples/clients/python-requests/requirements.txt?raw';
import python from '../../../../../examples/clients/python-requests/send_events.py?raw';

/** A client in one language, as the tests of the repository run it. */
export interface Snippet {
  id: string;
  label: string;
  /** What to save before the command is run; of a client in the repository, what it runs. */
  files: readonly { name: string; code: string }[];
  /** The folder of the repository that the command is run in, for a client that needs the schema from there. */
  directory?: string;
  command: string;
}

/** @param address of ingest; the API key is given to every client in the environment, never in its code. */
export function makeSnippets(address: string, apiKey: string): Snippet[] {
  const run = (readme: string) =>
    `export WEIR_URL=${address}\nexport WEIR_API_KEY=${apiKey}\n${commandOf(readme)}`;
  return [
    {
      ...{ id: 'curl', label: 'curl', command: run(curlReadme) },
      files: [{ name: 'send-events.sh', code: curl }],
    },
    {
      ...{ id: 'python', label: 'Python', command: run(pythonReadme) },
      files: [
        { name: 'send_events.py', code: python },
        { name: 'requirements.txt', code: requirements },
      ],
    },
    {
      ...{ id: 'node', label: 'Node', command: run(nodeReadme) },
      directory: 'examples/clients/node-connect',
      files: [{ name: 'send-events.js', code: node }],
    },
    {
      ...{ id: 'go', label: 'Go', command: run(goReadme) },
      files: [
        { name: 'main.go', code: go },
        { name: 'go.mod', code: goModule },
      ],
    },
    {
      ...{ id: 'otlp', label: 'OpenTelemetry', files: [] },
      command: [
        `export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${address}/v1/traces`,
        `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${apiKey}"`,
      ].join('\n'),
    },
  ];
}

/** The commands of a client's README, which its test runs. */
function commandOf(readme: string): string {
  const command = /^```sh\n(.*?)\n```$/ms.exec(readme)?.[1];
  if (command === undefined) throw new Error('the README of a client has no commands');
  return command;
}
