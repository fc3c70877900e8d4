import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { buildOnce } from '../../harness/tools/build-cache.ts';
import { chooseFreePorts } from '../../launcher/provision/ports.ts';
import { until } from '../support/wait.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const prometheusFolder = join(root, 'deploy/prometheus');
export const read = (path: string) => readFileSync(join(root, path), 'utf8');

export const alertNames = [...read('deploy/prometheus/alerts.yml').matchAll(/- alert: (\w+)/g)].map(
  ([, name = '']) => name,
);

/** A package of Debian, unpacked without installing it. @returns the folder of its programs. */
export async function unpackDebian(name: string): Promise<string> {
  const commands = [`apt-get download ${name}`, `dpkg -x ${name}_*.deb unpacked`];
  const hash = createHash('sha256').update(commands.join()).digest('hex').slice(0, 16);
  const directory = await buildOnce({ name, hash, write: () => {}, folder: '.', commands });
  return join(directory, 'unpacked/usr/bin');
}

/** A program that listens on a free port of loopback. Disposing it stops it. */
export async function startProgram(
  file: string,
  args: readonly string[],
  { listen, readyPath }: { listen: string; readyPath: string },
): Promise<{ host: string } & AsyncDisposable> {
  const [port = 0] = await chooseFreePorts(1);
  const host = `127.0.0.1:${port}`;
  const child = spawn(file, [...args, `${listen}=${host}`], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const isReady = async () => (await fetch(`http://${host}${readyPath}`).catch(() => undefined))?.ok === true;
  await until(isReady, 30_000);
  return {
    host,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/**
 * Starts a Prometheus with `deploy/prometheus/prometheus.yml`, which scrapes and evaluates every second.
 *
 * @param alerts the rules; default: those of `deploy`.
 */
export async function startPrometheus(
  targets: readonly string[],
  alerts = read('deploy/prometheus/alerts.yml'),
) {
  const programs = await unpackDebian('prometheus');
  const directory = mkdtempSync(join(inject('runDirectory'), 'prometheus-'));
  const config = read('deploy/prometheus/prometheus.yml')
    .replace(/scrape_interval: \w+/, 'scrape_interval: 1s\n  evaluation_interval: 1s')
    .replace(/targets: .*/, `targets: ${JSON.stringify(targets)}`);
  writeFileSync(join(directory, 'prometheus.yml'), config);
  writeFileSync(join(directory, 'alerts.yml'), alerts);
  const files = [
    `--config.file=${join(directory, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
  ];
  const program = await startProgram(join(programs, 'prometheus'), files, {
    listen: '--web.listen-address',
    readyPath: '/-/ready',
  });
  const ask = async <Data>(path: string): Promise<Data> => {
    const response = await fetch(`http://${program.host}/api/v1/${path}`);
    const answer = (await response.json()) as { status: string; error?: string; data: Data };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  return {
    async hasData(expression: string): Promise<boolean> {
      const query = expression.replaceAll('$__rate_interval', '10s').replaceAll(/\[[25]m\]/g, '[10s]');
      const { result } = await ask<{ result: unknown[] }>(`query?${new URLSearchParams({ query })}`);
      return result.length > 0;
    },
    /** The labels of the alerts that fire. */
    async firing(): Promise<Record<string, string>[]> {
      const { alerts } = await ask<{ alerts: { state: string; labels: Record<string, string> }[] }>('alerts');
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
