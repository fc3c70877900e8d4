// Records events like an application, and reports progress to its parent as JSON lines.
// Argument: the name of a case below. Environment: WEIR_URL, WEIR_API_KEY, SPOOL (a directory), COUNT.

import process, { argv, env } from 'node:process';
import { Worker } from 'node:worker_threads';
import { Weir } from '../../src/index.ts';
import { fileSpool } from '../../src/spool.ts';
import { llmEvent } from '../support/events.ts';

const [, , deed] = argv;
const count = Number(env.COUNT ?? 5);
const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
const open = () => new Weir({ ...(env.SPOOL && { spool: fileSpool({ directory: env.SPOOL }) }) });
const record = (weir: Weir) => Array.from({ length: count }, () => weir.record(llmEvent()));

switch (deed) {
  // Exits without a flush.
  case 'end':
    say({ ids: record(open()) });
    break;
  // Exits while a request is in flight, and prints the counters at the end.
  case 'end-later': {
    const weir = new Weir({ onDrop: ({ dropped }) => say({ dropped }) });
    record(weir);
    void weir.flush({ timeoutMs: 50 });
    process.on('exit', () => say({ stats: weir.stats() }));
    break;
  }
  case 'exit':
    say({ ids: record(open()) });
    process.exit(0);
    break;
  case 'throw':
    say({ ids: record(open()) });
    throw new Error('on purpose');
  // Prints a line at once, and then waits to be ended by a signal.
  case 'stay': {
    const weir = open();
    say({ ids: [...record(weir), weir.record(llmEvent('x'.repeat(5 * 1024 ** 2)))] });
    setInterval(() => {}, 1_000);
    break;
  }
  // Prints a line when all events are on disk, and then waits to be killed.
  case 'wait': {
    const weir = open();
    const ids = record(weir);
    const timer = setInterval(() => {
      if (weir.stats().spooled < count) return;
      clearInterval(timer);
      say({ ids });
      setInterval(() => {}, 1_000);
    }, 20);
    break;
  }
  // Every thread has its own directory in the spool.
  case 'threads':
    for (let thread = 0; thread < 3; thread++) new Worker(new URL(import.meta.url), { argv: ['end'], env });
    break;
  // Delivers the events of processes that have ended.
  case 'deliver':
    say(await open().shutdown());
}
