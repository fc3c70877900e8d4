import { availableParallelism, totalmem } from 'node:os';
import process from 'node:process';

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/** The cores and the memory that this process may use: of its container, if it has limits. */
export function readMachine(): Machine {
  const limitBytes = process.constrainedMemory();
  const memoryBytes = limitBytes > 0 ? Math.min(limitBytes, totalmem()) : totalmem();
  return { cores: availableParallelism(), memoryBytes };
}
