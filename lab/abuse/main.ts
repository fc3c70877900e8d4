import process from 'node:process';
import { parseArgs } from 'node:util';
import { startWeir } from '../../harness/system/weir.ts';
import { measureLatency } from './latency.ts';
import { measureMemory } from './memory.ts';
import { abuses } from './requests.ts';

/**
 * `npm run abuse [-- --rounds N --at-once N --only NAME --seconds S]`: abuses a Weir of its own, in two parts.
 *
 * - Memory: hundreds of kinds of abuse through every protocol. Prints how much memory ingest had at most and after ten
 *   idle seconds. `--only` selects the kinds with this text in their name, and omits the second part.
 * - Latency: 2,000 slow connections, compression bombs and invalid keys, with a well-behaved client. Prints the client's
 *   latency during and just before the abuse, and whether an accepted event was lost.
 *
 * It fails when ingest answers a kind with 5xx, exits, uses more memory than `residentBytesMax`, or loses an event.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    'at-once': { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '20' },
  },
});

const say = (text: string) => process.stderr.write(`${text}\n`);
const kinds = abuses.filter(({ name, protocol }) => `${protocol.name}: ${name}`.includes(values.only));
await using weir = await startWeir();
const faults = await measureMemory(weir, kinds, {
  rounds: Number(values.rounds),
  atOnce: Number(values['at-once']),
  say,
});
if (values.only === '')
  faults.push(...(await measureLatency(weir, { seconds: Number(values.seconds), say })));
for (const fault of faults) say(`FAILED: ${fault}`);
if (faults.length > 0) process.exitCode = 1;
