import { exportTraces } from './export-traces.ts';
import { describeProject } from './langfuse-project.ts';
import { refuseSignal } from './other-signals.ts';

/** Where programs of OpenTelemetry post, below whatever base path their vendor has: `…/v1/traces`. */
const signalPath = /\/v1\/(traces|metrics|logs)$/;

/** The path that a Langfuse SDK asks to check its keys. */
const projectsPath = '/api/public/projects';

const exporting = {
  traces: { POST: exportTraces },
  metrics: { POST: refuseSignal },
  logs: { POST: refuseSignal },
};

/**
 * The handlers of paths that senders of other systems use, by method, so that only their endpoint has to be changed:
 * `/api/public/otel/v1/traces` (Langfuse), `/otel/v1/traces` (LangSmith), `/api/v1/otel/v1/traces`, and every other base path, with
 * doubled and trailing slashes.
 *
 * @returns undefined where nothing is at the path.
 */
export function findDoor(path: string) {
  const normalized = path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  if (normalized === projectsPath) return { GET: describeProject };
  const signal = signalPath.exec(normalized)?.[1] as keyof typeof exporting | undefined;
  return signal === undefined ? undefined : exporting[signal];
}
