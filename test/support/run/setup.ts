import { env } from 'node:process';
import { inject } from 'vitest';

// Only now, so that the worker of vitest itself does not write a cache when it exits.
env.NODE_COMPILE_CACHE = inject('compileCache');
