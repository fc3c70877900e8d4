import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { cacheDirectory } from '../../launcher/provision/cache-directory.ts';
import { type Guard, guards } from './guards.ts';
import { type Scope, scopes } from './scopes.ts';
import { checkScope, findJava, findTools, type Verdict } from './tlc.ts';

/**
 * `npm run model [-- --guard NAME]`: checks docs/model with TLC. Every order of steps in each scope must keep
 * the invariants, and without each guard of the code there must be a counterexample. With `--guard` it prints
 * that one state by state.
 *
 * Needs Java 11 or newer; without it the check is skipped, and says so.
 */
const { values } = parseArgs({ options: { guard: { type: 'string' } } });
const chosen = guards.filter(({ name }) => values.guard === undefined || name === values.guard);
if (chosen.length === 0) throw new Error(`no guard has the name ${values.guard}`);

const directory = mkdtempSync(join(tmpdir(), 'weir-model-'));
try {
  if (await findJava()) {
    const tools = await findTools(cacheDirectory(process.env, directory));
    if (tools === undefined)
      process.stdout.write('skipped: Maven Central, which has the TLA+ tools, cannot be reached\n');
    else await checkModel(tools);
  } else process.stdout.write('skipped: the model needs Java, which is not installed\n');
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function checkModel(tools: string): Promise<void> {
  let failures = 0;
  if (values.guard === undefined)
    for (const scope of Object.values<Scope>(scopes))
      failures += report(describeScope(scope, await checkScope({ tools, directory }, scope)));
  for (const guard of chosen) {
    const verdict = await checkScope({ tools, directory }, scopes[guard.scope], guard.name);
    if (values.guard !== undefined) process.stdout.write(verdict.output);
    failures += report(describeGuard(guard, verdict));
  }
  process.stdout.write(failures === 0 ? 'the model holds\n' : `${failures} failed\n`);
  process.exitCode = failures === 0 ? 0 : 1;
}

interface Line {
  readonly passed: boolean;
  readonly text: string;
}

function describeScope({ name, about }: Scope, { violated, distinctStates, steps }: Verdict): Line {
  const states = `${distinctStates.toLocaleString('en')} states`;
  if (violated === undefined)
    return { passed: true, text: `${name} (${about}): ${states}, every invariant holds` };
  return { passed: false, text: `${name} (${about}): ${violated} does not hold: ${steps.join(', ')}` };
}

function describeGuard({ name, violates }: Guard, { violated, steps }: Verdict): Line {
  if (violated === violates)
    return { passed: true, text: `without ${name}, ${violated} does not hold: ${steps.join(', ')}` };
  return {
    passed: false,
    text: `without ${name}, ${violates} should not hold; found: ${violated ?? 'nothing'}`,
  };
}

/** @returns the number of failures. */
function report({ passed, text }: Line): number {
  process.stdout.write(`${passed ? '✓' : '✗'} ${text}\n`);
  return passed ? 0 : 1;
}
