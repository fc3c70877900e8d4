import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { findRequestWork } from '../../../operations/erasure-requests/requests.ts';
import { startLoop } from '../../../platform/background-loop.ts';
import type { Config } from '../../../platform/config.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Database } from '../../../store/db/database.ts';
import { erasurePollMs, erasureRetryMs } from '../limits.ts';

const program = fileURLToPath(new URL('../../../operations/erasure-requests/main.ts', import.meta.url));

/**
 * Starts a process for erasures requested in the dashboard (docs/data-lifecycle.md#erasure), whose role
 * cannot delete events. A process, because services hold no transactions open (ADR 14). It ends with the
 * writer; the next one resumes what it left.
 */
export function startErasures(config: Config, database: Database, log: Logger): AsyncDisposable {
  let child: ChildProcess | undefined;
  const run = async (signal: AbortSignal): Promise<boolean> => {
    const { requests, unwritten } = await findRequestWork(database);
    if (requests.length + unwritten.length === 0 || signal.aborted) return true;
    child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    child.send(config);
    const [code] = await once(child, 'exit');
    return code === 0;
  };
  return startLoop(
    {
      run,
      intervalMs: (isDone) => (isDone ? erasurePollMs : erasureRetryMs),
      retryMs: erasureRetryMs,
      failure: 'requested erasures were not run; trying again later',
      interrupt: () => child?.kill(),
    },
    log,
  );
}
