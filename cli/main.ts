import process from 'node:process';
import { runCommandLine } from './program.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  directory: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
});
