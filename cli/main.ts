import { enableCompileCache } from 'node:module';
import process from 'node:process';

// Half of a short command's time is compiling: so the cache must be on before anything else is loaded.
enableCompileCache();
const { runCommandLine } = await import('./program.ts');

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  directory: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
});
