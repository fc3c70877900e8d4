import type { Config } from '../../platform/config.ts';
import type { DataDirectory } from '../data-directory/data-directory.ts';
import type { SupervisorState } from '../instance/supervisor-state.ts';
import type { Progress } from '../terminal/progress.ts';
import type { RestartLoop } from './restart-loop.ts';
import type { TaskProcess } from './task-process.ts';

export interface StartContext {
  config: Config;
  env: Record<string, string | undefined>;
  /** The directory of the compile cache, if it lacked this process's code and so the services'. */
  emptyCompileCache: string | undefined;
  data: DataDirectory;
  /** Steps that need Drizzle. It runs until the system is ready. */
  tasks: TaskProcess;
  cacheDir: string;
  state: SupervisorState;
  progress: Progress;
  /** Everything that is started is pushed here, and is stopped in reverse order. */
  resources: AsyncDisposableStack;
  /** What runs, by name: a restore stops and starts it. */
  loops: Map<string, RestartLoop>;
  signal: AbortSignal;
}
