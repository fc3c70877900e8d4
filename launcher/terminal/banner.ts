import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { builtPages } from '../../platform/version.ts';
import type { Connection } from '../local-system.ts';

export interface BannerOptions {
  signInLink: string | undefined;
  vendor: string;
  dataDir: string;
  nowMs: number;
  isTerminal: boolean;
}

/** The npm package has its pages; a checkout builds them. */
const commandLine = builtPages === undefined ? 'npm run --silent weir --' : 'npx weir';

/**
 * The message of `weir start` when the system is ready: addresses, and how to send and view an event. Secrets
 * are shown only on a terminal: other output may be kept, e.g. as a container's log.
 */
export function renderBanner(connection: Connection, options: BannerOptions): string {
  const { isTerminal, signInLink, dataDir } = options;
  const file = join(dataDir, 'connection.json');
  const link =
    signInLink === undefined || !isTerminal
      ? ''
      : `    Open it      ${signInLink}   (signs in once, within 15 minutes)\n`;
  return `
  Weir is ready.

    Ingest       ${connection.ingestUrl}
    Dashboard    ${connection.dashboardUrl}   ${connection.email}   ${isTerminal ? connection.password : `(password: see ${file})`}
${link}    API key      ${isTerminal ? connection.apiKey : `see ${file}`}
    Space        ${connection.spaceId}
    Data         ${dataDir}

  Send an event:

${renderCurl(connection, { ...options, file })}

  View it:

${renderDataDir(dataDir)}${commandLine} events --space ${connection.spaceId} --limit 1

  Ctrl-C stops the system and keeps the data.
`;
}

function renderDataDir(dataDir: string): string {
  return dataDir === '.weir' ? '' : `WEIR_DATA_DIR=${quote(dataDir)} `;
}

/** A curl command for any POSIX shell. Without a terminal it reads the key from the file. */
function renderCurl(
  { ingestUrl, apiKey }: Pick<Connection, 'ingestUrl' | 'apiKey'>,
  { vendor, nowMs, isTerminal, file }: BannerOptions & { file: string },
): string {
  const readKey = `$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).apiKey' ${quote(file)})`;
  const header = isTerminal ? quote(`Authorization: Bearer ${apiKey}`) : `"Authorization: Bearer ${readKey}"`;
  const body = JSON.stringify({ events: [sampleEvent(vendor, nowMs)] });
  // The certificate is for the name that clients use; this URL has another host.
  const insecure = ingestUrl.startsWith('https:') ? ' --insecure' : '';
  return `curl -sS${insecure} ${quote(`${ingestUrl}/v1/ingest-events`)} -H ${header} -H 'Content-Type: application/json' -d ${quote(body)}`;
}

function sampleEvent(vendor: string, nowMs: number): object {
  const durationMs = 842;
  return {
    id: randomUUID(),
    type: 'llm',
    startTimeMs: nowMs - durationMs,
    endTimeMs: nowMs,
    durationMs,
    status: { state: 'ok' },
    instrumentation: { vendor, source: 'curl', sourcePackage: 'readme' },
    context: { threadId: 'first-thread', userId: 'you' },
    additionalProperties: { environment: 'local' },
    properties: {
      llm: {
        model: 'example-model',
        input: { prompt: 'Say hello.' },
        output: { mode: 'text', response: 'Hello!' },
        usage: { inputTokens: 4, outputTokens: 2, totalTokens: 6 },
      },
    },
  };
}

function quote(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
