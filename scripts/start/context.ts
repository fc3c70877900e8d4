import type { Config } from '../../lib/config.ts';
import type { DataDirectory } from './data-directory.ts';
import type { Progress } from './progress.ts';
import type { SupervisorState } from './supervisor-state.ts';

/** What every part of a start works with. */
export interface StartContext {
  config: Config;
  /** The environment that we were started with. */
  env: Record<string, string | undefined>;
  data: DataDirectory;
  /** Where downloads are kept. */
  cacheDir: string;
  state: SupervisorState;
  progress: Progress;
  /** What is started goes onto it, and is stopped in reverse. */
  resources: AsyncDisposableStack;
  /** Aborted when everything is to stop. */
  signal: AbortSignal;
}
