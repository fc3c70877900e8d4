import { env } from 'node:process';
import { afterAll, beforeAll, inject } from 'vitest';
import { cpuSeconds } from './cpu-time.ts';

declare module 'vitest' {
  interface TaskMeta {
    /**
     * The CPU time of a test file without its imports: the first file of a process loads them for the others.
     */
    cpuSeconds?: number;
  }
}

// Set here, so that the vitest worker itself does not write a cache when it exits.
env.NODE_COMPILE_CACHE = inject('compileCache');

// These hooks are the first and the last of each test file.
let startSeconds = 0;
beforeAll(() => {
  startSeconds = cpuSeconds();
});
// biome-ignore lint/correctness/noEmptyPattern: Vitest requires a pattern for this argument, of which nothing is used.
afterAll(({}, { file }) => {
  file.meta.cpuSeconds = cpuSeconds() - startSeconds;
});
