/**
 * Prints "N passed, N failed" from the reports and the exit codes of .ci/run, and exits with 1 when anything failed:
 * `node .ci/summary.mjs REPORTS TESTS EXTERNAL CHECKS CHAOS`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory = '', tests, external, checks, chaos] = process.argv.slice(2);
const results = [
  countRun(tests, () => readVitestReport('tests.json')),
  countRun(external, () => readVitestReport('external.json')),
  countRun(checks, () => (checks === '0' ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 })),
  countRun(chaos, () => readJson('chaos.json')),
];
const passed = results.reduce((sum, result) => sum + result.passed, 0);
const failed = results.reduce((sum, result) => sum + result.failed, 0);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * A run that exits with an error has failed, even without a failed test: a set-up may have failed, or a process leaked.
 *
 * @param {string | undefined} exitCode
 * @param {() => { passed: number, failed: number }} read
 */
function countRun(exitCode, read) {
  try {
    const { passed, failed } = read();
    return { passed, failed: Math.max(failed, exitCode === '0' ? 0 : 1) };
  } catch {
    // The report was not written.
    return { passed: 0, failed: 1 };
  }
}

/** @param {string} name */
function readVitestReport(name) {
  const { numPassedTests, numFailedTests, testResults } = readJson(name);
  // A file that could not be loaded has no tests that could fail.
  const notLoaded = testResults.filter(
    (/** @type {{ status: string, assertionResults: { status: string }[] }} */ file) =>
      file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'),
  );
  return { passed: numPassedTests, failed: numFailedTests + notLoaded.length };
}

/** @param {string} name */
function readJson(name) {
  return JSON.parse(readFileSync(join(directory, name), 'utf8'));
}
