import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { env } from 'node:process';
import { text } from 'node:stream/consumers';
import { describeExit, exitOf } from '../../launcher/process/child-process.ts';

/**
 * Runs a program of a development dependency until it exits.
 *
 * @throws Error with its output when it fails.
 */
export async function runTool(root: string, name: string, args: readonly string[]): Promise<void> {
  const programs = join(root, 'node_modules', '.bin');
  const child = spawn(join(programs, name), args, {
    cwd: root,
    // The PATH lets the tools run on our Node and find their plugins.
    // The other variables disable telemetry and update checks, which would need a network.
    env: {
      ...env,
      PATH: `${programs}${delimiter}${env.PATH}`,
      NO_COLOR: '1',
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [exit, output, errors] = await Promise.all([exitOf(child), text(child.stdout), text(child.stderr)]);
  if (exit.code !== 0) throw new Error(`${output}${errors}`.trim() || `${name}: ${describeExit(exit)}`);
}
