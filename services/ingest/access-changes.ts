import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { socketOpener } from '../../lib/db/socket.ts';
import { listenAnswerMs, listenCheckMs } from '../../lib/limits.ts';
import type { Logger } from '../../lib/log.ts';
import type { AccessDirectory } from './access.ts';

/** The channel that the triggers on `spaces` and `api_keys` notify. */
const channel = 'weir_access';

/** Pause before LISTEN is tried again after the connection was lost. */
const reconnectDelayMs = 250;

/**
 * Keeps a directory true to the database: a revoked key, a changed quota or billing state reaches it as it is
 * committed. After every loss of the connection everything is asked anew, since notifications may have been missed.
 *
 * The library's own `listen` is not used: when its reconnect fails once, it never listens again.
 */
export function followAccessChanges(
  databaseUrl: string,
  directory: AccessDirectory,
  log: Logger,
): AsyncDisposable {
  let closed = false;
  let lost = Promise.withResolvers<void>();
  const sql = postgres(databaseUrl, {
    max: 1,
    connect_timeout: 5,
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false,
    connection: { application_name: 'weir-ingest-listen' },
    onclose: () => lost.resolve(),
    // Options of the library that its types do not know.
    ...({
      onnotify: (_channel: string, payload: string) => applyChange(directory, payload),
      socket: socketOpener(listenAnswerMs),
    } as object),
  });
  // A connection that only listens would not tell that it is dead: its socket gives up when this is not answered.
  const check = setInterval(() => void sql`SELECT 1`.catch(() => {}), listenCheckMs);

  const listening = (async () => {
    while (!closed) {
      lost = Promise.withResolvers<void>();
      try {
        await sql`LISTEN ${sql(channel)}`;
        directory.forget(() => true);
        await lost.promise;
      } catch (error) {
        if (!closed) log.warn({ err: error }, 'not notified of access changes; trying again');
      }
      if (!closed) await sleep(reconnectDelayMs);
    }
  })();

  return {
    async [Symbol.asyncDispose]() {
      closed = true;
      clearInterval(check);
      await sql.end({ timeout: 1 });
      lost.resolve();
      await listening;
    },
  };
}

/** `space:<id>` or `key:<hash in hex>`. */
function applyChange(directory: AccessDirectory, payload: string): void {
  const [kind, value] = payload.split(':', 2);
  directory.forget((key) => (kind === 'space' ? key.spaceId : key.hash) === value);
}
