import postgres from 'postgres';
import { startLoop } from '../../../platform/background-loop.ts';
import type { Logger } from '../../../platform/log.ts';
import { socketOpener } from '../../../store/db/socket.ts';
import { listenAnswerMs, listenCheckMs } from '../limits.ts';
import type { ApiKeyCache } from './api-key-cache.ts';

/** The channel that the triggers on `spaces` and `api_keys` notify. */
const channel = 'weir_access';

/** Pause before a new LISTEN after the connection was lost. */
const reconnectDelayMs = 250;

/**
 * Invalidates cached API keys when Postgres notifies a change of a key or of a space's quota or billing
 * state. After a lost connection it invalidates all of them, because notifications may have been missed.
 *
 * The `listen` of postgres.js is not used: after one failed reconnect it never listens again.
 */
export function followAccessChanges(
  databaseUrl: string,
  apiKeyCache: ApiKeyCache,
  log: Logger,
): AsyncDisposable {
  let lost = Promise.withResolvers<void>();
  const sql = postgres(databaseUrl, {
    max: 1,
    connect_timeout: 5,
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false,
    connection: { application_name: 'weir-ingest-listen' },
    onclose: () => lost.resolve(),
    // The types of postgres.js lack these options.
    ...({
      onnotify: (_channel: string, payload: string) => applyChange(apiKeyCache, payload),
      socket: socketOpener(listenAnswerMs),
    } as object),
  });
  // A connection that only listens does not notice a lost peer. The socket closes when this query times out.
  const check = setInterval(() => void sql`SELECT 1`.catch(() => {}), listenCheckMs);

  const listen = async () => {
    lost = Promise.withResolvers<void>();
    await sql`LISTEN ${sql(channel)}`;
    apiKeyCache.invalidate(() => true);
    await lost.promise;
  };
  return startLoop(
    {
      run: listen,
      intervalMs: reconnectDelayMs,
      failure: 'LISTEN failed: changes of API keys and spaces are not notified; retrying',
      async interrupt() {
        clearInterval(check);
        await sql.end({ timeout: 1 });
        lost.resolve();
      },
    },
    log,
  );
}

/** `space:<id>` or `key:<hash in hex>`. */
function applyChange(apiKeyCache: ApiKeyCache, payload: string): void {
  const [kind, value] = payload.split(':', 2);
  apiKeyCache.invalidate((key) => (kind === 'space' ? key.spaceId : key.hash) === value);
}
