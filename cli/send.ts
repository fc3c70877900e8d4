import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readConnection } from '../lib/connection.ts';
import { eventsPerBatchMax } from '../lib/limits.ts';
import { parseApiKey, parseHttpUrl, wholeNumber } from './arguments.ts';
import { readConfig } from './database.ts';
import { CommandFailure, type Host, printJson, tell } from './host.ts';
import { openProgress } from './progress.ts';
import { sendFile } from './send-file.ts';
import { describeSummary } from './send-summary.ts';

/** Enough to keep ingest busy on a small machine; more only makes requests wait longer. */
const concurrencyDefault = 4;
const concurrencyMax = 256;

interface SendOptions {
  url?: string;
  key?: string;
  freshIds?: boolean;
  batch: number;
  concurrency: number;
}

/** `send` (design §4). */
export function addSendCommand(program: Command, host: Host): void {
  program
    .command('send')
    .description('send the events of an NDJSON file (one a line, gzip or not) to ingest')
    .argument('<file>', 'the file')
    .option('--url <url>', 'base address of ingest; without it, the one that `npm start` runs', parseHttpUrl)
    .option('--key <key>', "API key; without it, the first space's", parseApiKey)
    .option('--fresh-ids', 'give every event a new id, so that the same file counts anew')
    .option('--batch <n>', 'events a request', wholeNumber(1, eventsPerBatchMax), eventsPerBatchMax)
    .option('--concurrency <n>', 'requests at once', wholeNumber(1, concurrencyMax), concurrencyDefault)
    .action((file: string, options: SendOptions) => send(host, file, options));
}

async function send(host: Host, file: string, options: SendOptions): Promise<void> {
  const target = findTarget(host, options);
  const progress = openProgress(host.stderr);
  const summary = await sendFile(findFile(host, file), {
    ...target,
    freshIds: options.freshIds === true,
    eventsPerBatch: options.batch,
    concurrency: options.concurrency,
    progress,
  }).finally(() => progress.stop());
  tell(host, describeSummary(summary));
  await printJson(host, summary);
  if (summary.rejected > 0 || summary.errors.length > 0) {
    throw new CommandFailure('Not everything was accepted: see the errors above.');
  }
}

function findTarget(host: Host, options: SendOptions): { url: string; apiKey: string } {
  const config = readConfig(host);
  const connection = readConnection(config.WEIR_DATA_DIR);
  const url = options.url ?? connection?.ingestUrl;
  const apiKey = options.key ?? connection?.apiKey;
  if (url !== undefined && apiKey !== undefined) return { url, apiKey };
  throw new CommandFailure(
    `Nothing was started in ${config.WEIR_DATA_DIR} yet. Start Weir with \`npm start\`, or give --url and --key.`,
  );
}

/** npm runs us in the project's directory; INIT_CWD is where the person stands. */
function findFile(host: Host, file: string): string {
  const here = resolve(host.directory, file);
  const there = resolve(host.env.INIT_CWD ?? host.directory, file);
  return existsSync(here) ? here : there;
}
