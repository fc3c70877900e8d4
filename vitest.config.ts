import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{lib,services,cli,scripts,examples,test}/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Files share two cores with the Postgres and the nats-server they start.
    maxWorkers: 2,
  },
});
