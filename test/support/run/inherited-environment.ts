import { env } from 'node:process';

/**
 * Environment variables that processes started by tests inherit. The test sets all others. They share
 * compiled code through Node's compile cache, which saves a third of the CPU time of a start. Killed
 * processes write no cache: global-setup.ts fills it.
 */
export const inheritedEnvironment = () => ({ PATH: env.PATH, NODE_COMPILE_CACHE: env.NODE_COMPILE_CACHE });
