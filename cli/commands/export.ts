import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { messageOf } from '../../platform/thrown.ts';
import { CommandError, type Host, OutputClosedError, printMessage } from '../host.ts';
import { addFilterOptions, type FilterOptions, toFilter } from '../reads/filter-options.ts';
import { addReadOptions, openReadApi, type ReadOptions } from '../reads/read-api.ts';

const formats = ['ndjson', 'csv', 'parquet', 'events'];

const progressMs = 250;

interface ExportOptions extends FilterOptions, ReadOptions {
  format: string;
  output?: string;
}

export function addExportCommand(program: Command, host: Host): void {
  const command = program
    .command('export')
    .description('export all events of a filter, newest first, read with a read key');
  addFilterOptions(addReadOptions(command))
    .addOption(
      new Option(
        '--format <format>',
        'columns as NDJSON or CSV, columns and whole events as Parquet, or events as they were sent',
      )
        .choices(formats)
        .default('ndjson'),
    )
    .option('--output <file>', 'the file; it appears when it is complete (default: stdout)')
    .action((options: ExportOptions) => exportEvents(host, options));
}

async function exportEvents(host: Host, options: ExportOptions): Promise<void> {
  const api = openReadApi(host, options);
  const { id } = await api.query('spaces', 'get', {});
  const query = new URLSearchParams({ format: options.format, filter: JSON.stringify(toFilter(options)) });
  const { body } = await api.open(`/export/${id}?${query}`);
  const progress = openExportProgress(host);
  async function* counted(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body ?? []) {
        progress.add(chunk.length);
        yield chunk;
      }
    } catch (error) {
      // The API resets the connection of an export that fails.
      throw new CommandError(`The export broke off: ${messageOf(error)}.`);
    }
  }
  try {
    if (options.output === undefined) await writeToStdout(host, counted());
    else await writeToFile(resolve(host.directory, options.output), counted());
  } finally {
    progress.stop();
  }
  if (options.output !== undefined) printMessage(host, `${options.output}: ${progress.text()}`);
}

async function writeToFile(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const partial = `${file}.partial`;
  try {
    await pipeline(Readable.from(chunks), createWriteStream(partial));
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeToStdout({ stdout }: Host, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (stdout.destroyed) throw new OutputClosedError('stdout is closed');
    if (!stdout.write(chunk))
      await Promise.race([drained(stdout), finished(stdout, { readable: false }).catch(() => {})]);
  }
}

function drained(stdout: Host['stdout']): Promise<void> {
  return new Promise((done) => stdout.once('drain', done));
}

function openExportProgress({ stderr }: Host) {
  const startedAtMs = performance.now();
  let bytes = 0;
  const text = () => {
    const seconds = (performance.now() - startedAtMs) / 1_000;
    return `${(bytes / 1024 ** 2).toFixed(1)} MiB in ${seconds.toFixed(1)} s`;
  };
  const timer = stderr.isTTY ? setInterval(() => stderr.write(`\r${text()} `), progressMs) : undefined;
  return {
    add: (more: number) => {
      bytes += more;
    },
    text,
    stop() {
      if (timer === undefined) return;
      clearInterval(timer);
      stderr.write('\r\u001b[K');
    },
  };
}
