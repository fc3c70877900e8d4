import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { chooseFreePorts } from '../../../launcher/provision/ports.ts';
import { until } from '../wait.ts';

/**
 * A Collector of OpenTelemetry that keeps what it has accepted in files until Weir has it. Disposing stops
 * it.
 */
export interface Collector extends AsyncDisposable {
  /** Where it takes OTLP over HTTP. */
  readonly url: string;
  /** Kills it with SIGKILL and starts it again with the same port and files. */
  restart(): Promise<void>;
}

/** It opens the files of its queue; other tests may use the machine. */
const readyTimeoutMs = 60_000;

/** Starts a Collector without batches: they would wait in its memory, and a kill would lose them. */
export async function startCollector(
  binary: string,
  target: { readonly url: string; readonly apiKey: string },
): Promise<Collector> {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(inject('runDirectory'), 'collector-'));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const [port = 0] = await chooseFreePorts(1);
  const host = `127.0.0.1:${port}`;
  const file = join(directory, 'config.yml');
  mkdirSync(join(directory, 'queue'));
  writeFileSync(file, configOf(host, join(directory, 'queue'), target));
  let child: ChildProcess | undefined;
  const start = async () => {
    const started = spawn(binary, [`--config=file:${file}`], { stdio: ['ignore', 'ignore', 'pipe'] });
    child = started;
    let output = '';
    started.stderr.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
    // Any response says that it listens.
    await until(async () => {
      if (started.exitCode !== null) throw new Error(`the Collector ended: ${output}`);
      return (await fetch(`http://${host}/v1/traces`).catch(() => undefined)) !== undefined;
    }, readyTimeoutMs);
  };
  const stop = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  stack.defer(stop);
  await start();
  const owned = stack.move();
  return {
    url: `http://${host}`,
    async restart() {
      await stop();
      await start();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function configOf(host: string, queue: string, { url, apiKey }: { url: string; apiKey: string }): string {
  return JSON.stringify({
    receivers: { otlp: { protocols: { http: { endpoint: host } } } },
    extensions: { file_storage: { directory: queue } },
    exporters: {
      otlphttp: {
        endpoint: url,
        headers: { authorization: `Bearer ${apiKey}` },
        sending_queue: { storage: 'file_storage', queue_size: 100_000 },
        retry_on_failure: { initial_interval: '100ms', max_interval: '1s', max_elapsed_time: '0s' },
      },
    },
    service: {
      extensions: ['file_storage'],
      pipelines: { traces: { receivers: ['otlp'], exporters: ['otlphttp'] } },
      telemetry: { metrics: { level: 'none' } },
    },
  });
}
