import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programEnvironment } from '../../../harness/tools/build-cache.ts';
import { runShell } from '../../../harness/tools/shell.ts';
import type { SpaceVisitor } from './use-browser.ts';

/** Installing packages takes minutes on a busy machine. */
const timeoutMs = 300_000;

/**
 * Runs the snippet of a tab on a new space's page, with the visitor's key, in an empty folder.
 *
 * @throws Error with the output when one of its commands failed.
 */
export async function runSnippet({ page, apiKey }: SpaceVisitor, label: string): Promise<void> {
  await page.getByRole('tab', { name: label, exact: true }).click();
  const shown = await page.getByRole('tabpanel').locator('pre').textContent();
  const paste = (shown ?? '').replaceAll('YOUR_API_KEY', apiKey);
  const cwd = mkdtempSync(join(tmpdir(), 'weir-snippet-'));
  try {
    // npm's audits and notices would call the registry.
    const quiet = {
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
    };
    const env = { ...programEnvironment, ...quiet };
    const { exitCode, stdout, stderr } = await runShell(`set -e\n${paste}`, { cwd, env, timeoutMs });
    if (exitCode !== 0) throw new Error(`${label} exited with ${exitCode}:\n${stdout}${stderr}`);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
