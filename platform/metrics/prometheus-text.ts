/**
 * Converts OpenMetrics to Prometheus' text format 0.0.4, where the name of a counter in its comments has the suffix of its samples.
 * The client library cannot write both: writing one changes the names that it writes in the other.
 *
 * @param openMetrics of the client library: without units, exemplars and timestamps.
 */
export function toPrometheusText(openMetrics: string): string {
  const counters = new Set(Array.from(openMetrics.matchAll(/^# TYPE (\S+) counter$/gm), ([, name]) => name));
  return openMetrics
    .replace(/^# (HELP|TYPE) (\S+)/gm, (line, _, name) => (counters.has(name) ? `${line}_total` : line))
    .replace(/^# EOF\n/m, '');
}
