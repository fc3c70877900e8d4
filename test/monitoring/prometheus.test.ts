import { join } from 'node:path';
import { env } from 'node:process';
import { describe, expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { buildTimeoutMs } from '../../harness/tools/build-cache.ts';
import { runShell } from '../../harness/tools/shell.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { postEvents } from '../support/http.ts';
import { CertificateFiles, makePair } from '../support/protocols/certificate.ts';
import { startService } from '../support/service-process.ts';
import { useProcessPipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';
import { alertNames, prometheusFolder, read, startPrometheus, unpackDebian } from './prometheus.ts';

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
  const { pipeline, tenant } = useProcessPipeline();

  test(
    'promtool accepts the rules, and each alert fires when its condition is true',
    async () => {
      const promtool = join(await unpackDebian('prometheus'), 'promtool');
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
      using files = new CertificateFiles();
      files.install(await makePair());
      await using dashboard = await startService('dashboard-api', {
        ...pipeline.variables,
        ...files.variables,
        DASHBOARD_PORT: '0',
        INGEST_URL: pipeline.url,
      });
      const targets = [pipeline.ingest, pipeline.writer, dashboard].map(
        ({ ready }) => new URL(ready.metricsUrl ?? '').host,
      );
      await using prometheus = await startPrometheus(targets);
      await pipeline.sql`INSERT INTO backups (label, location, stopped_at, verified_at) VALUES ('last', '', now(), now())`;
      // Only a Citus cluster has nodes.
      const unanswered = new Set(expressions().filter((one) => !one.includes('weir_writer_node_')));
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

/**
 * The expressions of alerts, without their bounds, and of the panels. Those of node_exporter are left out.
 */
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
