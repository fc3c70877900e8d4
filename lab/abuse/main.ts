import process from 'node:process';
import { parseArgs } from 'node:util';
import { startWeir } from '../../harness/system/weir.ts';
import { measureDashboard } from './dashboard.ts';
import { measureLatency } from './latency.ts';
import { measureMemory } from './memory.ts';
import { measureNeighbour } from './neighbour.ts';
import { abuses } from './requests.ts';

/**
 * `npm run abuse [-- --rounds N --at-once N --only NAME --seconds S --part PART]`: abuses a Weir of its own,
 * in parts.
 *
 * - Memory: hundreds of kinds of abuse through every protocol. Prints how much memory ingest had at most and
 *   after ten idle seconds. `--only` selects the kinds with this text in their name, and omits the second
 *   part.
 * - Latency: 2,000 slow connections, compression bombs and invalid keys, with a well-behaved client. Prints
 *   the client's latency during and just before the abuse, and whether an accepted event was lost.
 * - Neighbour (`--part neighbour` runs it alone): a space that sends all it can through each door, beside one
 *   with a few requests a second. Prints the latency of the second alone and then, and the longest stall.
 *   `--only` selects doors.
 * - Dashboard (`--part dashboard` runs it alone): every procedure of the dashboard API, every download and
 *   every tool of the MCP door with the largest inputs on the worst data, live streams and alerts. Prints the
 *   longest stall of the event loop in each, and a neighbour's latency. `--only` selects calls.
 *
 * It fails when the dashboard API stands still for longer than its bound, when a neighbour waits or is
 * refused, when ingest answers a kind with 5xx, exits, uses more memory than `residentBytesMax`, or loses an
 * event.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    'at-once': { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '20' },
    part: { type: 'string', default: '' },
  },
});

const say = (text: string) => process.stderr.write(`${text}\n`);
const kinds = abuses.filter(({ name, protocol }) => `${protocol.name}: ${name}`.includes(values.only));
await using weir = await startWeir();
const faults: string[] = [];
const isPart = (part: string) => values.part === part || (values.part === '' && values.only === '');
if (values.part === '') {
  const options = { rounds: Number(values.rounds), atOnce: Number(values['at-once']), say };
  faults.push(...(await measureMemory(weir, kinds, options)));
  if (values.only === '')
    faults.push(...(await measureLatency(weir, { seconds: Number(values.seconds), say })));
}
if (isPart('neighbour'))
  faults.push(...(await measureNeighbour(weir, { seconds: 10, only: values.only, say })));
if (isPart('dashboard')) faults.push(...(await measureDashboard(weir, { only: values.only, say })));
for (const fault of faults) say(`FAILED: ${fault}`);
if (faults.length > 0) process.exitCode = 1;
