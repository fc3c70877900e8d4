import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '../../launcher/provision/cache-directory.ts';
import { buildWeb } from '../../launcher/provision/web/web-build.ts';
import { describeReads } from '../../services/dashboard-api/openapi/document.ts';
import { describeApi } from '../../services/ingest/openapi/document.ts';
import { findVersionDifferences } from '../release/versions.ts';
import { findLockFiles, findMissingOptional } from './lockfile.ts';
import { runTool } from './tool.ts';
import { findOverweight, measureWeb } from './web-size.ts';

/** One check of `npm run check`. */
export interface Check {
  name: string;
  /** @throws Error with the reason when the check fails. */
  run(): Promise<void>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * By default four threads check types, each of them anew what they share: on two cores that takes twice the
 * CPU time.
 */
const tscOptions = ['--noEmit', '--checkers', '1'];

/** Of the packages beside the product, which need dependencies of their own. */
export const packageChecks: readonly Check[] = [
  {
    name: 'types of the packages (tsc)',
    run: () => runTool(root, 'tsc', [...tscOptions, '-p', 'tsconfig.packages.json']),
  },
  {
    name: 'types of the Python package (pyright)',
    run: () => runTool(root, 'pyright', ['--project', join('sdk', 'python')]),
  },
  { name: 'dead code and dependencies (knip)', run: () => runTool(root, 'knip', ['--no-progress']) },
];

/** Of the product. */
export const checks: readonly Check[] = [
  { name: 'format and lint (biome)', run: () => runTool(root, 'biome', ['ci', '--colors=off', '.']) },
  { name: 'types (tsc)', run: () => runTool(root, 'tsc', tscOptions) },
  {
    name: 'types of the pages (tsc)',
    run: () => runTool(root, 'tsc', [...tscOptions, '-p', 'services/dashboard-web']),
  },
  { name: 'protobuf contracts (buf lint)', run: () => runTool(root, 'buf', ['lint']) },
  {
    name: 'protobuf contracts are compatible with the last release (buf breaking)',
    run: () => runTool(root, 'buf', ['breaking', '--against', 'proto/released.binpb']),
  },
  { name: 'the OpenAPI documents (redocly lint)', run: () => inScratch(checkOpenApi) },
  { name: 'gen/ is what buf generates', run: () => inScratch(checkGenerated) },
  { name: 'the migrations match the schema', run: () => inScratch(checkMigrations) },
  { name: 'lock files are complete', run: checkLockFiles },
  { name: 'the version is the same everywhere', run: checkVersions },
  { name: 'the pages are within their sizes', run: checkWebSize },
];

async function checkOpenApi(scratch: string): Promise<void> {
  for (const [name, document] of Object.entries({ ingest: describeApi('weir'), reads: describeReads() })) {
    const file = join(scratch, `${name}.json`);
    writeFileSync(file, JSON.stringify(document, null, 2));
    await runTool(root, 'redocly', ['lint', '--extends=recommended-strict', '--format=stylish', file]);
  }
}

async function checkGenerated(scratch: string): Promise<void> {
  await runTool(root, 'buf', ['generate', '--output', scratch]);
  refuseDifferences(findDifferences(join(root, 'gen'), join(scratch, 'gen')), 'gen');
}

/** drizzle-kit generates another migration when the schema has changed since the last one. */
async function checkMigrations(scratch: string): Promise<void> {
  const migrations = join(root, 'store', 'db', 'migrations');
  const copy = join(scratch, 'migrations');
  cpSync(migrations, copy, { recursive: true });
  const schema = join('store', 'db', 'schema.ts');
  await runTool(root, 'drizzle-kit', [
    'generate',
    '--dialect=postgresql',
    `--schema=${schema}`,
    `--out=${copy}`,
  ]);
  refuseDifferences(findDifferences(migrations, copy), 'store/db/migrations');
}

/** Of the build in the user's cache, which the tests share. */
async function checkWebSize(): Promise<void> {
  const { directory } = await buildWeb({ cacheDir: cacheDirectory(env, join(tmpdir(), 'weir')) });
  const overweight = findOverweight(measureWeb(directory));
  if (overweight.length > 0) throw new Error(overweight.join('\n'));
}

async function checkLockFiles(): Promise<void> {
  const missing = findLockFiles(root).flatMap((file) => {
    const lock = JSON.parse(readFileSync(join(root, file), 'utf8'));
    return findMissingOptional(lock.packages).map(({ name }) => `${name} in ${file}`);
  });
  if (missing.length === 0) return;
  throw new Error(
    `These packages are missing, and npm ci fails without them: ${missing.join(', ')}. Run: node harness/check/complete-lockfile.ts`,
  );
}

async function checkVersions(): Promise<void> {
  const differences = findVersionDifferences(root);
  if (differences.length > 0) throw new Error(differences.join('\n'));
}

function refuseDifferences(differences: readonly string[], directory: string): void {
  if (differences.length === 0) return;
  throw new Error(`${directory} is out of date: ${differences.join(', ')}. Run: npm run generate`);
}

async function inScratch(run: (scratch: string) => Promise<void>): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'weir-check-'));
  try {
    await run(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * @returns the relative paths of files that differ between two directories, or are missing in one of them.
 */
function findDifferences(left: string, right: string): string[] {
  const files = new Set([...listFiles(left), ...listFiles(right)]);
  return [...files].filter((file) => {
    const [a, b] = [join(left, file), join(right, file)];
    return !existsSync(a) || !existsSync(b) || !readFileSync(a).equals(readFileSync(b));
  });
}

function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}
