import { randomUUID } from 'node:crypto';
import type { Connection } from '../../lib/local-system.ts';

/** The message of `npm start` when the system is ready: the addresses, and how to send and view a first event. */
export function renderBanner(
  connection: Connection,
  options: { signInLink: string | undefined; vendor: string; dataDir: string; nowMs: number },
): string {
  const link =
    options.signInLink === undefined
      ? ''
      : `    Open it      ${options.signInLink}   (signs in once, within 15 minutes)\n`;
  return `
  Weir is ready.

    Ingest       ${connection.ingestUrl}
    Dashboard    ${connection.dashboardUrl}   ${connection.email}   ${connection.password}
${link}    API key      ${connection.apiKey}
    Space        ${connection.spaceId}
    Data         ${options.dataDir}

  Send an event:

${renderCurl(connection, options)}

  View it:

${renderDataDir(options.dataDir)}npm run --silent weir -- events --space ${connection.spaceId} --limit 1

  Ctrl-C stops the system and keeps the data.
`;
}

/** Omitted for the default directory. */
function renderDataDir(dataDir: string): string {
  return dataDir === '.weir' ? '' : `WEIR_DATA_DIR=${quote(dataDir)} `;
}

/** A curl command that can be pasted into any POSIX shell. */
function renderCurl(
  { ingestUrl, apiKey }: Pick<Connection, 'ingestUrl' | 'apiKey'>,
  { vendor, nowMs }: { vendor: string; nowMs: number },
): string {
  const body = JSON.stringify({ events: [sampleEvent(vendor, nowMs)] });
  // The certificate is for the name that clients use; this URL has another host.
  const insecure = ingestUrl.startsWith('https:') ? ' --insecure' : '';
  return `curl -sS${insecure} ${quote(`${ingestUrl}/v1/ingest-events`)} -H ${quote(`Authorization: Bearer ${apiKey}`)} -H 'Content-Type: application/json' -d ${quote(body)}`;
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

/** Quotes a text as one word of a shell command. */
function quote(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
