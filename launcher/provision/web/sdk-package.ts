import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const sdk = fileURLToPath(new URL('../../../sdk/typescript', import.meta.url));
const run = promisify(execFile);

const fileName = 'weir-sdk.tgz';

/**
 * Writes the TypeScript SDK as a package for `npm install <dashboard>/weir-sdk.tgz`.
 * @throws Error with the compiler's output.
 */
export async function packSdk(directory: string): Promise<void> {
  const draft = mkdtempSync(`${directory}-sdk-`);
  try {
    const folder = join(draft, 'package');
    mkdirSync(folder);
    const tsc = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin',
      'tsc',
    );
    await run(execPath, [tsc, '-p', join(sdk, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')]);
    // Its scripts build the package from the sources, which are not in it.
    const { scripts: _, ...manifest } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, undefined, 2));
    for (const name of ['README.md', 'LICENSE']) copyFileSync(join(sdk, name), join(folder, name));
    await run('tar', ['-czf', join(directory, fileName), '-C', draft, 'package']);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
