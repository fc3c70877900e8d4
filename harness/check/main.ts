import process from 'node:process';
import { messageOf } from '../../platform/thrown.ts';
import { packageChecks, checks as productChecks } from './checks.ts';

/**
 * `npm run check`: runs all checks besides the tests, and prints one line for each. `--packages`: those of
 * the other packages.
 */
const checks = process.argv.includes('--packages') ? packageChecks : productChecks;
let failures = 0;
for (const { name, run } of checks) {
  const startedAt = performance.now();
  try {
    await run();
    process.stdout.write(`✓ ${name} (${seconds(startedAt)} s)\n`);
  } catch (error) {
    failures++;
    const reason = messageOf(error);
    process.stdout.write(`✗ ${name} (${seconds(startedAt)} s)\n${reason.replaceAll(/^/gm, '    ')}\n`);
  }
}
process.stdout.write(`${checks.length - failures} checks passed, ${failures} failed\n`);
process.exitCode = failures === 0 ? 0 : 1;

function seconds(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}
