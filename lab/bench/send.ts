import { execFile } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withFreshId } from '../../cli/client/fresh-id.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { requireDisk } from './growth/disk.ts';
import { countStored, type Figures, measureHttpToPostgres } from './measures.ts';
import type { Workload } from './workload.ts';

/** How long the load generator runs before the command, and after it. */
const loadSeconds = 30;

const run = promisify(execFile);
const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

/**
 * Measures `weir send` of a file with `events` events, until all of them are stored, and the load generator
 * before and after it.
 *
 * @throws Error when the directory for temporary files has too little room.
 */
export async function measureSend(
  weir: RunningWeir,
  workload: Workload,
  { events, log }: { events: number; log: (text: string) => void },
): Promise<Figures> {
  const eventBytes = workload.events.reduce((sum, { length }) => sum + length, 0) / workload.events.length;
  requireDisk(events, log, events * eventBytes);
  const directory = mkdtempSync(join(tmpdir(), 'weir-send-'));
  try {
    const path = join(directory, 'events.ndjson');
    await writeEvents(path, workload, events);
    const before = await measureHttpToPostgres(weir, workload, loadSeconds);
    const sent = await sendFile(weir, path, events);
    const after = await measureHttpToPostgres(weir, workload, loadSeconds);
    return {
      ...sent,
      fileEvents: events,
      loadPerSecond: (before.events + after.events) / (before.seconds + after.seconds),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Writes events of the workload in turn, each with an id of its own. */
async function writeEvents(path: string, { events }: Workload, count: number): Promise<void> {
  const lineBreak = Buffer.from('\n');
  function* lines() {
    for (let i = 0; i < count; i++)
      yield Buffer.concat([withFreshId(events[i % events.length] ?? Buffer.alloc(0)), lineBreak]);
  }
  await pipeline(lines, createWriteStream(path));
}

/** Runs the command as a user does, in a process of its own. */
async function sendFile({ connection, sql }: RunningWeir, path: string, events: number): Promise<Figures> {
  const before = await countStored(sql);
  const startedMs = performance.now();
  await run(execPath, [main, 'send', path, '--url', connection.ingestUrl, '--key', connection.apiKey]);
  const exitedMs = performance.now();
  while ((await countStored(sql)) < before + events) await sleep(5);
  return {
    sendPerSecond: events / ((performance.now() - startedMs) / 1_000),
    sendSeconds: (exitedMs - startedMs) / 1_000,
  };
}
