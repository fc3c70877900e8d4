import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { readConnection } from '../../launcher/local-system.ts';
import { eventsPerBatchMax } from '../../platform/limits.ts';
import { parseApiKey, parseHttpUrl, wholeNumber } from '../arguments.ts';
import { readConfig } from '../database.ts';
import { CommandError, findFile, type Host, printJson, printMessage } from '../host.ts';
import { openProgress } from '../send/progress.ts';
import { sendFile } from '../send/send-file.ts';
import { describeSummary } from '../send/send-summary.ts';

/** Default time for which a batch is retried: long enough for a restart of all services of a machine. */
const sendRetryForSeconds = 90;

/** Enough to saturate ingest on a small machine; more only increases latency. */
const concurrencyDefault = 4;
/** Each request holds its batch of up to 4 MiB: at most 1 GiB of memory. */
const concurrencyMax = 256;

const sampleFile = fileURLToPath(new URL('../../examples/events.ndjson', import.meta.url));

interface SendOptions {
  sample?: boolean;
  url?: string;
  key?: string;
  freshIds?: boolean;
  now?: boolean;
  batch: number;
  concurrency: number;
  retryFor: number;
  restart?: boolean;
}

export function addSendCommand(program: Command, host: Host): void {
  program
    .command('send')
    .description(
      'send a file to ingest, plain or gzip: events as NDJSON (one per line), or OpenTelemetry spans as OTLP/JSON',
    )
    .argument('[file]', 'the file')
    .option('--sample', 'send 101 sample events instead of a file, with times until now')
    .option('--url <url>', 'base URL of ingest (default: WEIR_URL, or the one of `weir start`)', parseHttpUrl)
    .option(
      '--key <key>',
      'API key (default: WEIR_API_KEY with WEIR_URL, or the one of the first space)',
      parseApiKey,
    )
    .option('--fresh-ids', 'replace the id of every event, so that the file can be sent again')
    .option('--now', 'shift the times of all events by the same distance, so that the latest is now')
    .option('--batch <n>', 'events per request', wholeNumber(1, eventsPerBatchMax), eventsPerBatchMax)
    .option('--concurrency <n>', 'concurrent requests', wholeNumber(1, concurrencyMax), concurrencyDefault)
    .option(
      '--retry-for <seconds>',
      'how long a request is retried while Weir does not answer',
      wholeNumber(0),
      sendRetryForSeconds,
    )
    .option('--restart', 'begin again, instead of continuing a command that was interrupted')
    .action((file: string | undefined, options: SendOptions, command: Command) => {
      if ((file === undefined) === (options.sample === undefined))
        command.error('error: name a file, or give --sample');
      return send(host, file, options);
    });
}

async function send(host: Host, file: string | undefined, options: SendOptions): Promise<void> {
  const target = findTarget(host, options);
  const progress = openProgress(host.stderr);
  const summary = await sendFile(file === undefined ? sampleFile : findFile(host, file), {
    ...target,
    freshIds: options.freshIds === true,
    isNow: options.now === true || file === undefined,
    eventsPerBatch: options.batch,
    concurrency: options.concurrency,
    retryForMs: options.retryFor * 1_000,
    isRestart: options.restart === true,
    pid: process.pid,
    report: (text) => printMessage(host, text),
    progress,
  }).finally(() => progress.stop());
  printMessage(host, describeSummary(summary));
  await printJson(host, summary);
  if (summary.stopped !== undefined) {
    throw new CommandError('Not all of the file was sent. Run the same command again to continue.');
  }
  if (summary.rejected > 0 || summary.errors.length > 0) {
    throw new CommandError('Not every event was accepted: see the errors above.');
  }
}

function findTarget(host: Host, options: SendOptions): { url: string; apiKey: string } {
  const config = readConfig(host);
  const connection = readConnection(config.WEIR_DATA_DIR);
  const given = options.url ?? (host.env.WEIR_URL || undefined);
  const url = given ?? connection?.ingestUrl;
  // A key of another Weir may be set while this command sends to the one of `weir start`.
  const givenKey = options.key ?? (given === undefined ? undefined : host.env.WEIR_API_KEY || undefined);
  const apiKey = givenKey ?? connection?.apiKey;
  if (url !== undefined && apiKey !== undefined) return { url, apiKey };
  throw new CommandError(
    `Nothing was started in ${config.WEIR_DATA_DIR} yet. Start Weir with \`weir start\`, set WEIR_URL and WEIR_API_KEY, or give --url and --key.`,
  );
}
