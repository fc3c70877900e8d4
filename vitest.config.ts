import { env } from 'node:process';
import { defineConfig } from 'vitest/config';
import { preloadOption } from './launcher/preload.mjs';
import { BudgetReporter } from './test/support/run/budget-reporter.ts';
import { LongestFirst } from './test/support/run/longest-first.ts';
import { slowFiles } from './test/support/run/slow-files.ts';

/**
 * Tests that download and build programs in other languages, minutes on a machine that has not cached them
 * yet, and those that need a Citus cluster.
 */
const external = [
  'test/clients/**/*.test.ts',
  'test/contract/schemathesis.test.ts',
  'test/citus/**/*.test.ts',
  'test/monitoring/**/*.test.ts',
  'test/deploy/**/*.test.ts',
];

/** Tests of the other packages, and those that need what only these install. */
const packages = ['{lab,sdk}/**/*.test.ts', 'test/sdk/**/*.test.ts'];

const slow = Object.keys(slowFiles);

/** The report that `.ci/run` counts. */
const reportFile: ['json', { outputFile: string }][] =
  env.TEST_REPORT === undefined ? [] : [['json', { outputFile: env.TEST_REPORT }]];

/** Builds a Kubernetes API server: some ten minutes of CPU time, too long for every run. */
const kubernetes = ['test/deploy/kubernetes/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/run/global-setup.ts'],
    setupFiles: ['test/support/run/setup.ts'],
    // For tests that hang. A machine that does other work as well needs ten times as long as an idle one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Vitest's default is 1 s.
    expect: { poll: { timeout: 60_000 } },
    // On two cores: the files share them with the servers that they start, and wait for half of their time.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    // `.ci/run` adds a report in JSON.
    reporters: ['default', new BudgetReporter(), ...reportFile],
    // Test files share a process, and so load each module once. The suite takes a third less CPU time.
    isolate: false,
    execArgv: [preloadOption()],
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: [
            '{platform,event,store,operations,services,cli,launcher,harness,examples,test}/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', ...external, ...packages, ...slow],
        },
      },
      { extends: true, test: { name: 'slow', include: slow } },
      {
        extends: true,
        test: { name: 'external', include: external, exclude: ['**/node_modules/**', ...kubernetes] },
      },
      // `npm run test:packages`. The SDK's folder of client versions has packages with tests of their own.
      { extends: true, test: { name: 'packages', include: packages, exclude: ['**/node_modules/**'] } },
      // `npm run test:kubernetes`
      { extends: true, test: { name: 'kubernetes', include: kubernetes } },
      // `npm run screenshots`
      { extends: true, test: { name: 'screenshots', include: ['test/web/screenshots/*.shots.ts'] } },
    ],
  },
});
