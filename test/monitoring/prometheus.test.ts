import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { chooseFreePorts } from '../../launcher/provision/ports.ts';
import { postEvents } from '../support/http.ts';
import { startService } from '../support/service-process.ts';
import { buildOnce, buildTimeoutMs } from '../support/tools/build-cache.ts';
import { runShell } from '../support/tools/shell.ts';
import { findMissingTool } from '../support/tools/toolchain.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const prometheusFolder = join(root, 'deploy/prometheus');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Debian's package of Prometheus, unpacked without installing it. @returns the folder of its programs. */
async function unpackPrometheus(): Promise<string> {
  const commands = ['apt-get download prometheus', 'dpkg -x prometheus_*.deb unpacked'];
  const hash = createHash('sha256').update(commands.join()).digest('hex').slice(0, 16);
  const directory = await buildOnce({ name: 'prometheus', hash, write: () => {}, folder: '.', commands });
  return join(directory, 'unpacked/usr/bin');
}

const alertNames = [...read('deploy/prometheus/alerts.yml').matchAll(/- alert: (\w+)/g)].map(
  ([, name = '']) => name,
);

test('each alert has a test that makes it fire, and a section in docs/operating.md', () => {
  const tests = read('deploy/prometheus/alerts.test.yml');
  const sections = [...read('docs/operating.md').matchAll(/^### (\w+)$/gm)].map(([, title]) => title);
  expect(alertNames.length).toBeGreaterThan(8);
  for (const name of alertNames)
    expect(tests).toContain(`alertname: ${name}\n        exp_alerts:\n          -`);
  expect(sections.filter((title) => title?.startsWith('Weir'))).toEqual(alertNames);
});

const missing = findMissingTool(['apt-get']);

describe.skipIf(missing !== undefined)(`with a real Prometheus${missing ? `: ${missing}` : ''}`, () => {
  const { pipeline, tenant } = usePipeline();

  test(
    'promtool accepts the rules, and each alert fires when its condition is true',
    async () => {
      const promtool = join(await unpackPrometheus(), 'promtool');
      const script = `'${promtool}' check config prometheus.yml && '${promtool}' test rules alerts.test.yml`;
      const { exitCode, stdout, stderr } = await runShell(script, {
        cwd: prometheusFolder,
        env,
        timeoutMs: 60_000,
      });
      expect(exitCode, stdout + stderr).toBe(0);
    },
    buildTimeoutMs,
  );

  test(
    'every expression of the alerts and of the Grafana dashboard returns data of a Weir that Prometheus scrapes',
    async () => {
      await using dashboard = await startService('dashboard-api', {
        ...pipeline.variables,
        DASHBOARD_PORT: '0',
        INGEST_URL: pipeline.url,
      });
      const targets = [pipeline.ingest, pipeline.writer, dashboard].map(
        ({ ready }) => new URL(ready.metricsUrl ?? '').host,
      );
      await using prometheus = await startPrometheus(targets);
      await pipeline.sql`INSERT INTO backups (label, location, stopped_at, verified_at) VALUES ('last', '', now(), now())`;
      const unanswered = new Set(expressions());
      expect(unanswered.size).toBeGreaterThan(30);
      await until(async () => {
        expect((await postEvents(pipeline, tenant, [llmEvent()])).status).toBe(202);
        for (const expression of unanswered)
          if (await prometheus.hasData(expression)) unanswered.delete(expression);
        return unanswered.size === 0;
      }, 60_000).catch(() => {});
      expect([...unanswered]).toEqual([]);
    },
    buildTimeoutMs,
  );
});

/** The expressions of alerts, without their bounds, and of the panels. Those of node_exporter are left out. */
function expressions(): string[] {
  const ofAlerts = [...read('deploy/prometheus/alerts.yml').matchAll(/expr: (?:>-\n +)?(.*)$/gm)]
    .flatMap(([, expression = '']) => expression.split(' and on () '))
    .map((expression) => expression.replace(/ (?:>|<|==) [\d.]+$/, ''));
  const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(
    read('deploy/grafana/weir.json'),
  );
  const ofPanels = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return [...ofAlerts, ...ofPanels].filter((expression) => !expression.startsWith('node_'));
}

async function startPrometheus(targets: readonly string[]) {
  const programs = await unpackPrometheus();
  const directory = mkdtempSync(join(inject('runDirectory'), 'prometheus-'));
  const config = read('deploy/prometheus/prometheus.yml')
    .replace(/scrape_interval: \w+/, 'scrape_interval: 1s')
    .replace(/targets: .*/, `targets: ${JSON.stringify(targets)}`)
    .replace('alerts.yml', join(prometheusFolder, 'alerts.yml'));
  writeFileSync(join(directory, 'prometheus.yml'), config);
  const [port = 0] = await chooseFreePorts(1);
  const child = spawn(
    join(programs, 'prometheus'),
    [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true, 30_000);
  return {
    async hasData(expression: string): Promise<boolean> {
      const query = expression.replaceAll('$__rate_interval', '10s').replaceAll(/\[[25]m\]/g, '[10s]');
      const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`);
      const answer = (await response.json()) as {
        status: string;
        error?: string;
        data?: { result: unknown[] };
      };
      if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`);
      return (answer.data?.result.length ?? 0) > 0;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
