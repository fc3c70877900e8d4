import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { env } from 'node:process';
import { text } from 'node:stream/consumers';
import { describeExit, exitOf } from '../provision/embedded-process.ts';

/**
 * Runs a program of a development dependency to its end.
 *
 * @throws Error with all it wrote, when it fails.
 */
export async function runTool(root: string, name: string, args: readonly string[]): Promise<void> {
  const programs = join(root, 'node_modules', '.bin');
  const child = spawn(join(programs, name), args, {
    cwd: root,
    // The tools run on our Node, and find their plugins, whoever starts the check.
    // They are not to report to their makers what they check, or wait for a network that is not there.
    env: {
      ...env,
      PATH: `${programs}${delimiter}${env.PATH}`,
      NO_COLOR: '1',
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [exit, output, complaint] = await Promise.all([
    exitOf(child),
    text(child.stdout),
    text(child.stderr),
  ]);
  if (exit.code !== 0) throw new Error(`${output}${complaint}`.trim() || `${name}: ${describeExit(exit)}`);
}
