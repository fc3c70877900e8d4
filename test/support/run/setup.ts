import { env } from 'node:process';
import { inject } from 'vitest';

// Set here, so that the vitest worker itself does not write a cache when it exits.
env.NODE_COMPILE_CACHE = inject('compileCache');
