import type { Socket } from 'node:net';
import { nextTick } from 'node:process';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { createDatabase } from '../../test/support/backing.ts';
import { until } from '../../test/support/wait.ts';
import { socketOpener } from './socket.ts';

test('what is asked between the failure of a connection and its close fails, and later answers meet their questions', async () => {
  await using database = await createDatabase();
  const open = socketOpener(0);
  const sockets: Socket[] = [];
  const socket = (target: Parameters<typeof open>[0]) => {
    const opened = open(target);
    sockets.push(opened);
    return opened;
  };
  const sql = postgres(database.url, { max: 1, fetch_types: false, ...({ socket } as object) });
  const ask = async (name: string) => (await sql<{ name: string }[]>`SELECT ${name}::text AS name`)[0]?.name;
  await ask('first');
  const [first] = sockets;
  const writtenBefore = first?.bytesWritten ?? 0;
  const underway = expect(sql`SELECT pg_sleep(60)`).rejects.toThrow('broken');
  await until(() => (first?.bytesWritten ?? 0) > writtenBefore);
  first?.destroy(new Error('broken'));
  // Node has told of the failure by then, and closes the socket later in this turn of the event loop.
  await new Promise<void>((resolve) => nextTick(() => nextTick(() => nextTick(resolve))));
  const between = expect(ask('between')).rejects.toThrow('broken');
  await Promise.all([underway, between]);
  for (const name of ['second', 'third', 'fourth']) expect(await ask(name)).toBe(name);
  await sql.end({ timeout: 1 });
});
