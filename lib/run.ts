import { type Config, parseConfig } from './config.ts';
import { drainTimeoutMs } from './limits.ts';
import { type Logger, openLog } from './log.ts';

/** What a service's `start` receives: its configuration, its log, and the stack its resources go onto. */
export interface ServiceContext {
  config: Config;
  log: Logger;
  resources: AsyncDisposableStack;
}

/**
 * Runs one service in this process: parses the configuration, acquires in the order of `start`, tells the
 * supervisor that it is ready, and on SIGTERM, SIGINT or the supervisor's death releases in reverse.
 *
 * @returns when everything is released; the process then ends by itself.
 */
export async function runService(
  host: NodeJS.Process,
  name: string,
  start: (context: ServiceContext) => Promise<Record<string, unknown>>,
): Promise<void> {
  const stop = stopRequested(host);
  let log: Logger | undefined;
  try {
    const config = parseConfig(host.env);
    log = openLog(name, config);
    await using resources = new AsyncDisposableStack();
    const details = await start({ config, log, resources });
    log.info(details, 'ready');
    host.send?.({ ready: true, ...details });
    const reason = await stop;
    log.info({ reason }, 'draining');
    // A release that hangs must not keep the supervisor waiting for ever.
    setTimeout(() => host.exit(1), drainTimeoutMs).unref();
  } catch (error) {
    log?.fatal({ err: error }, 'cannot go on');
    host.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    host.exit(1);
  }
  log?.info('stopped');
  if (host.connected) host.disconnect?.();
}

function stopRequested(host: NodeJS.Process): Promise<string> {
  return new Promise((resolve) => {
    host.once('SIGTERM', () => resolve('SIGTERM'));
    host.once('SIGINT', () => resolve('SIGINT'));
    // The channel to the supervisor closes when it dies: a service does not outlive it.
    host.once('disconnect', () => resolve('supervisor gone'));
  });
}
