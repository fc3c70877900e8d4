/**
 * Prints what failed, by name, then "N passed, N failed", from the reports, logs and exit codes that .ci/run
 * wrote into a directory, and exits with 1 when anything failed: `node .ci/summary.mjs DIRECTORY`. The names
 * stand at the end of the log, which is what most systems keep of it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const [directory = ''] = process.argv.slice(2);
/**
 * What Vitest prints of an error outside of a test, or of a process that was left running, fits into so many
 * lines.
 */
const linesOfLog = 40;

const results = [
  countRun('npm test', 'tests', readVitestReport),
  countRun('npm run test:slow', 'slow', readVitestReport),
  countRun('npm run test:packages', 'packages', readVitestReport),
  countRun('npm run test:external', 'external', readVitestReport),
  countRun('npm run check', 'checks', countAsOne),
  countRun('npm run check:packages', 'package-checks', countAsOne),
  countRun('npm run chaos', 'chaos', readChaosReport),
  countRun('npm run model', 'model', countAsOne),
];
const passed = results.reduce((sum, result) => sum + result.passed, 0);
const failures = results.flatMap((result) => result.failures);
for (const failure of failures) process.stdout.write(`failed: ${failure}\n`);
process.stdout.write(`${passed} passed, ${failures.length} failed\n`);
process.exitCode = failures.length === 0 ? 0 : 1;

/**
 * A run that exits with an error has failed, even without a failed test: a set-up may have failed, a process
 * leaked, or an error was thrown outside of a test. Only the end of its log names the cause then.
 *
 * @param {string} command
 * @param {string} name of its files
 * @param {(name: string, exitCode: string) => { passed: number, failures: string[] }} read
 */
function countRun(command, name, read) {
  const codeFile = join(directory, `${name}.code`);
  const exitCode = existsSync(codeFile) ? readFileSync(codeFile, 'utf8').trim() : 'none';
  try {
    const { passed, failures } = read(name, exitCode);
    if (failures.length === 0 && exitCode !== '0') {
      failures.push(`${command} (exit code ${exitCode})${endOfLog(name)}`);
    }
    return { passed, failures };
  } catch {
    return {
      passed: 0,
      failures: [`${command} (exit code ${exitCode}, no report was written)${endOfLog(name)}`],
    };
  }
}

/** @param {string} name */
function endOfLog(name) {
  const path = join(directory, `${name}.log`);
  if (!existsSync(path)) return '';
  const lines = stripVTControlCharacters(readFileSync(path, 'utf8'))
    .split('\n')
    .filter((line) => line.trim() !== '');
  return `, its last lines:\n${lines
    .slice(-linesOfLog)
    .map((line) => `  ${line}\n`)
    .join('')}`.trimEnd();
}

/**
 * @param {string} _name
 * @param {string} exitCode
 */
function countAsOne(_name, exitCode) {
  return { passed: exitCode === '0' ? 1 : 0, failures: [] };
}

/** @param {string} name */
function readVitestReport(name) {
  const { numPassedTests, testResults } = readJson(`${name}.json`);
  return { passed: numPassedTests, failures: testResults.flatMap(failuresOfFile) };
}

/**
 * A file that could not be loaded has no tests that could fail, and is a failure itself.
 *
 * @param {{ name: string, status: string, message: string, assertionResults: { status: string, fullName:
 * string, failureMessages: string[] }[] }} file
 */
function failuresOfFile({ name, status, message, assertionResults }) {
  const path = relative(process.cwd(), name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (failed.length === 0) return status === 'failed' ? [`${path}: ${messageOf(message)}`] : [];
  return failed.map(
    ({ fullName, failureMessages }) => `${path}: ${fullName}: ${messageOf(failureMessages[0])}`,
  );
}

function readChaosReport() {
  const { passed, failures } = readJson('chaos.json');
  return { passed, failures };
}

/**
 * A message without its stack, on one line: a service that did not start ends its message with its output.
 *
 * @param {string | undefined} text
 */
function messageOf(text = '') {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  return lines.join(' | ').slice(0, 1_000);
}

/** @param {string} name */
function readJson(name) {
  return JSON.parse(readFileSync(join(directory, name), 'utf8'));
}
