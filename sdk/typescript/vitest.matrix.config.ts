import { defineConfig } from 'vitest/config';

/**
 * `npm run sdk`: the versions of other packages and the runtimes; it installs them first, from the npm
 * registry.
 */
export default defineConfig({
  test: {
    include: ['sdk/typescript/test/matrix/*.matrix.ts'],
    globalSetup: ['sdk/typescript/test/matrix/install.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
