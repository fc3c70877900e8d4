// Runs the scenario on Node, Bun and Deno, with a spool, and prints what happened.
import { env, stdout } from 'node:process';
import { runScenario } from './scenario.js';

const { Weir } = await import(`${env.SDK}/index.js`);
const { fileSpool } = await import(`${env.SDK}/spool.js`);
const options = { weirUrl: env.WEIR_URL, providerUrl: env.PROVIDER_URL };
const outcome = await runScenario({ Weir, ...options });

// Weir is unreachable: the events go to disk, and the next Weir object delivers them.
const away = new Weir({
  url: 'http://127.0.0.1:9',
  apiKey: 'key',
  spool: fileSpool({ directory: env.SPOOL }),
});
away.record({ type: 'tool', properties: { tool: { name: 'spooled' } } });
const { pending } = await away.shutdown({ timeoutMs: 300 });
const back = new Weir({ url: env.WEIR_URL, apiKey: 'key', spool: fileSpool({ directory: env.SPOOL }) });
const spooled = await back.shutdown();
// This event is delivered at the end of the process.
new Weir({ url: env.WEIR_URL, apiKey: 'key' }).record({
  type: 'tool',
  properties: { tool: { name: 'last' } },
});
stdout.write(`${JSON.stringify({ ...outcome, pending, spooled })}\n`);
