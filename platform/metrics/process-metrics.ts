import { monitorEventLoopDelay } from 'node:perf_hooks';
import { version } from '../version.ts';
import { defineCounter, defineGauge } from './define.ts';

/** Registers the metrics that every service has: its version, memory, CPU time and event loop. */
export function registerProcessMetrics(
  host: NodeJS.Process,
  { service, schema }: { service: string; schema: string },
): void {
  defineGauge({
    name: 'weir_build_info',
    help: 'Version of Weir, and the schema of the database that it is made for. Always 1.',
    labelNames: ['service', 'version', 'schema'],
  }).set({ service, version, schema }, 1);
  defineGauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process.',
    collect() {
      this.set(host.memoryUsage.rss());
    },
  });
  defineCounter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, user and system.',
    collect() {
      const { user, system } = host.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  defineStallMetric();
  const delays = monitorEventLoopDelay({ resolution: 20 });
  delays.enable();
  defineGauge({
    name: 'weir_event_loop_lag_seconds',
    help: 'Lag of the event loop since the last scrape.',
    labelNames: ['statistic'],
    collect() {
      this.set({ statistic: 'p50' }, delays.percentile(50) / 1e9);
      this.set({ statistic: 'p99' }, delays.percentile(99) / 1e9);
      this.set({ statistic: 'max' }, delays.max / 1e9);
      delays.reset();
    },
  });
}

/** Minutes of the longest stall that is shown: scrapes of several Prometheus servers do not reset it. */
const stallMinutes = 5;

function defineStallMetric(): void {
  const delays = monitorEventLoopDelay({ resolution: 20 });
  delays.enable();
  const longest: number[] = [];
  setInterval(() => {
    longest.push(delays.max);
    if (longest.length > stallMinutes) longest.shift();
    delays.reset();
  }, 60_000).unref();
  defineGauge({
    name: 'weir_event_loop_stall_seconds',
    help: 'Longest time in the last five minutes for which the event loop served nothing.',
    collect() {
      this.set(Math.max(delays.max, ...longest) / 1e9);
    },
  });
}
