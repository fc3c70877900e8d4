/**
 * Prints "N passed, N failed" from vitest's JSON report and the exit codes of the tests and the checks, and fails when
 * anything failed.
 */
import { readFileSync } from 'node:fs';

const [report = '', tests, checks] = process.argv.slice(2);
const counted = readReport();
const checkFailed = checks === '0' ? 0 : 1;
// A run that ends badly without a failed test, e.g. in the global set-up or with a leak, has failed all the same.
const testsFailed = Math.max(counted.failed, tests === '0' ? 0 : 1);
const failed = testsFailed + checkFailed;
process.stdout.write(`${counted.passed + 1 - checkFailed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

function readReport() {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    // A file that cannot be loaded has no tests that could fail.
    const unloaded = testResults.filter(
      (/** @type {{ status: string, assertionResults: { status: string }[] }} */ file) =>
        file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'),
    );
    return { passed: numPassedTests, failed: numFailedTests + unloaded.length };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
