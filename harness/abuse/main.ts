import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { residentBytes } from '../system/process-stats.ts';
import { type RunningWeir, startWeir } from '../system/weir.ts';
import { openClients } from './protocols.ts';
import { type Abuse, abuses } from './requests.ts';

/**
 * `npm run abuse [-- --rounds N --at-once N --only NAME]`: sends hundreds of kinds of abuse to a Weir of its own, through
 * every protocol, and prints how much memory ingest had at most and after ten idle seconds. It fails when ingest answers
 * one of them with 5xx, has ended, or had more memory than `residentBytesMax`. A 503 means that a thread had too little memory for
 * a batch; with `--at-once 5` or more it may also mean that too many costly ones waited.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    'at-once': { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
});
const rounds = Number(values.rounds);
const atOnce = Number(values['at-once']);

/** What operators plan for one ingest process, whatever clients do. */
const residentBytesMax = 512 * 1024 ** 2;

const idleMs = 10_000;
const sampleMs = 50;

const say = (text: string) => process.stderr.write(`${text}\n`);
const chosen = abuses.filter(({ name, protocol }) => `${protocol.name}: ${name}`.includes(values.only));
say(`${chosen.length} kinds of abuse, ${atOnce} at a time`);
await using weir = await startWeir();
const pid = weir.pidOf('ingest');
say(`ingest at the start: ${megabytes(residentBytes(pid))}`);
let peakBytes = 0;
for (let round = 1; round <= rounds; round++) {
  const { peak, peakName, statuses } = await abuse(weir, chosen);
  await sleep(idleMs);
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
  say(
    `round ${round}: at most ${megabytes(peak)} (${peakName}), ${megabytes(residentBytes(pid))} after ${idleMs / 1_000} idle seconds; ${counts.join(', ')}`,
  );
  peakBytes = Math.max(peakBytes, peak);
  if ([...statuses.keys()].some((status) => status >= 500)) process.exitCode = 1;
}
if (weir.pidOf('ingest') !== pid) {
  say('ingest has ended, and was started again');
  process.exitCode = 1;
}
if (peakBytes > residentBytesMax) {
  say(`more than ${megabytes(residentBytesMax)}`);
  process.exitCode = 1;
}

async function abuse({ connection: { ingestUrl, apiKey } }: RunningWeir, kinds: readonly Abuse[]) {
  await using clients = openClients(ingestUrl);
  const statuses = new Map<number, number>();
  let peak = 0;
  let peakName = '';
  let current = '';
  const timer = setInterval(() => {
    const bytes = residentBytes(pid);
    if (bytes <= peak) return;
    peak = bytes;
    peakName = current;
  }, sampleMs);
  // One iterator for all senders: each takes the next kind that nobody has taken.
  const queue = kinds.values();
  const sendInTurn = async () => {
    for (const { name, protocol, make } of queue) {
      current = `${protocol.name}: ${name}`;
      const status = await clients[protocol.httpVersion](make(apiKey));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
  clearInterval(timer);
  return { peak, peakName, statuses };
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
