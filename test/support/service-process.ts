import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';

/** One of our services, running as a process of its own, as the supervisor runs it. */
export interface ServiceProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  /** What it reported when it was ready. */
  readonly ready: { url?: string };
  /** All it has logged so far. */
  readonly log: () => string;
  /** Ends it and waits for its end; the exit code, or the signal that killed it. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null>;
}

/** @throws what the service said, when it ends before it is ready. */
export async function startService(
  name: 'ingest' | 'writer' | 'dashboard-api',
  variables: Record<string, string>,
): Promise<ServiceProcess> {
  const main = fileURLToPath(new URL(`../../services/${name}/main.ts`, import.meta.url));
  const child = fork(main, [], {
    env: { PATH: env.PATH, LOG_LEVEL: 'debug', ...variables },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (log += text));
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const [ready] = await Promise.race([
    once(child, 'message'),
    ended.then((how) => Promise.reject(new Error(`${name} ended (${how}) before it was ready:\n${log}`))),
  ]);
  const stop = async (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal);
    return ended;
  };
  return {
    child,
    ready,
    log: () => log,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
  };
}
