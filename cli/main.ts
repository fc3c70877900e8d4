import { enableCompileCache } from 'node:module';
import process from 'node:process';

// Before all other imports: a short command mostly compiles, and loads Drizzle's package.json.
enableCompileCache();
await import('../store/db/preload/preload.ts');
const { runCommandLine } = await import('./program.ts');

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  directory: process.cwd(),
  // Read on demand: opening stdin costs time, and few commands use it.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
});
