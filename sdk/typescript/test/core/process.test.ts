import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import { refuse, WeirStub } from '../support/weir-stub.ts';

let stub: WeirStub;
let spool: string;
beforeEach(async () => {
  stub = await WeirStub.start();
  spool = mkdtempSync(join(tmpdir(), 'weir-test-process-'));
});
afterEach(async () => {
  await stub.close();
  rmSync(spool, { recursive: true });
});

const variables = () => ({ WEIR_URL: stub.url, WEIR_API_KEY: 'key' });
const start = (deed: string, extra: Record<string, string> = {}) =>
  startProgram(deed, { ...variables(), ...extra });

/** The ids that the stub has accepted. Expects that each was accepted once. */
function acceptedOnce(): Set<string> {
  expect([...stub.deliveries.values()].every((count) => count === 1)).toBe(true);
  return new Set(stub.accepted.keys());
}

test('a program that ends delivers its events', async () => {
  const program = start('end');
  const { ids } = await program.says();
  expect(await program.ended).toBe(0);
  expect(acceptedOnce()).toEqual(new Set(ids as string[]));
});

test('a program exits although Weir is unreachable', async () => {
  stub.respond = (_, response) => refuse(response, 503);
  expect(await start('end').ended).toBe(0);
  expect(stub.requests.length).toBeGreaterThan(1);
});

test('a program exits although a request has no response, and counts the lost events', async () => {
  // No response is sent: the request would wait for 30 s.
  stub.respond = () => new Promise<boolean>(() => {});
  const program = start('end-later');
  const startedMs = performance.now();
  expect(await program.says()).toEqual({ dropped: { unsent: 5 } });
  expect(await program.says()).toMatchObject({ stats: { recorded: 5, dropped: 5, pending: 0 } });
  expect(await program.ended).toBe(0);
  // The request alone may take 30 s.
  expect(performance.now() - startedMs).toBeLessThan(25_000);
});

test('a program exits although Weir is slow, and the next process delivers the rest', async () => {
  const count = 10_000;
  // Each request succeeds; all of them would take 16 s.
  stub.respond = () => sleep(800, false);
  const program = start('end', { SPOOL: spool, COUNT: String(count) });
  const { ids } = await program.says();
  expect(await program.ended).toBe(0);
  expect(stub.accepted.size).toBeLessThan(count);
  stub.respond = () => undefined;
  await start('deliver', { SPOOL: spool }).says();
  expect(new Set(stub.accepted.keys())).toEqual(new Set(ids as string[]));
});

test.each([
  ['exit', 0],
  ['throw', 1],
])('%s: the events are in the spool, and the next process delivers them', async (deed, code) => {
  const program = start(deed, { SPOOL: spool });
  const { ids } = await program.says();
  expect(await program.ended).toBe(code);
  expect(stub.accepted.size).toBe(0);
  expect(await start('deliver', { SPOOL: spool }).says()).toEqual({ accepted: 5, dropped: 0, pending: 0 });
  expect(acceptedOnce()).toEqual(new Set(ids as string[]));
  expect(readdirSync(spool)).toEqual([]);
});

test.each(['SIGTERM', 'SIGKILL'] as const)(
  '%s right after record(): with a spool no event is lost',
  async (signal) => {
    stub.respond = () => new Promise<boolean>(() => {});
    const program = start('stay', { SPOOL: spool, COUNT: '20' });
    const { ids } = await program.says();
    program.child.kill(signal);
    expect(await program.ended).toBe(signal);
    expect(stub.accepted.size).toBe(0);
    stub.respond = () => undefined;
    const result = await start('deliver', { SPOOL: spool }).says();
    expect(result).toEqual({ accepted: 21, dropped: 0, pending: 0 });
    expect(acceptedOnce()).toEqual(new Set(ids as string[]));
  },
);

test('kill -9 while Weir is unreachable: the next process delivers each event once', async () => {
  await stub.close();
  const program = start('wait', { SPOOL: spool, COUNT: '1200' });
  const { ids } = await program.says();
  program.child.kill('SIGKILL');
  expect(await program.ended).toBe('SIGKILL');
  await stub.open();
  // Start two processes at once: only one of them adopts.
  const adopters = [start('deliver', { SPOOL: spool }), start('deliver', { SPOOL: spool })];
  const results = await Promise.all(adopters.map((adopter) => adopter.says()));
  expect(results.reduce((sum, { accepted }) => sum + Number(accepted), 0)).toBe(1_200);
  expect(acceptedOnce()).toEqual(new Set(ids as string[]));
});

test('threads of one process share a spool directory', async () => {
  await stub.close();
  expect(await start('threads', { SPOOL: spool }).ended).toBe(0);
  await stub.open();
  expect(await start('deliver', { SPOOL: spool }).says()).toEqual({ accepted: 15, dropped: 0, pending: 0 });
});
