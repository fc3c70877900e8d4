import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Fault } from '../fault.ts';

const run = promisify(execFile);

/** Idle connections that are opened: more than there are descriptors. */
const idleConnections = 200;
const spareDescriptors = 8;

/**
 * Ingest runs out of file descriptors and cannot accept connections. Memory is not limited: Node would exit
 * then.
 */
export const noDescriptors: Fault = {
  name: 'no-descriptors',
  row: 18,
  title: 'no file descriptors left for ingest',
  async checkSupport() {
    return run('prlimit', ['--version']).then(
      () => undefined,
      () => 'prlimit(1) is not installed',
    );
  },
  async inject({ system, random, thorough }) {
    const pid = system.process('ingest-1').pid();
    const { port, hostname } = new URL(system.ingestUrls[0] ?? '');
    const limit = (count: number | string) => run('prlimit', ['--pid', String(pid), `--nofile=${count}:`]);
    const { stdout: before } = await run('prlimit', [
      '--pid',
      String(pid),
      '--nofile',
      '-o',
      'SOFT',
      '--noheadings',
    ]);
    const sockets: Socket[] = [];
    try {
      await limit(readdirSync(`/proc/${pid}/fd`).length + spareDescriptors);
      for (let i = 0; i < idleConnections; i++) {
        sockets.push(connect(Number(port), hostname).on('error', () => {}));
      }
      await sleep(random.between(1_000, thorough ? 10_000 : 2_500));
    } finally {
      for (const socket of sockets) socket.destroy();
      await limit(before.trim());
    }
  },
};
