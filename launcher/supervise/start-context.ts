import type { Config } from '../../lib/config.ts';
import type { DataDirectory } from '../data-directory/data-directory.ts';
import type { SupervisorState } from '../instance/supervisor-state.ts';
import type { Progress } from '../terminal/progress.ts';

/** The dependencies that the steps of a start share. */
export interface StartContext {
  config: Config;
  /** The environment variables of this process. */
  env: Record<string, string | undefined>;
  data: DataDirectory;
  /** The directory for downloads. */
  cacheDir: string;
  state: SupervisorState;
  progress: Progress;
  /** Everything that is started is pushed here, and is stopped in reverse order. */
  resources: AsyncDisposableStack;
  /** Aborted when the system must stop. */
  signal: AbortSignal;
}
