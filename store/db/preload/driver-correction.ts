import { registerHooks } from 'node:module';
import { correctionMark } from './correction-mark.ts';

/**
 * Corrects postgres.js, which is not safe to use without it: `openPostgres` asserts that it is in.
 *
 * The driver defers the write of a query to the end of the event-loop turn. When the connection closes
 * before, it cancels the write but does not reset the timer's variable: it never writes on this connection
 * again, and each query on it fails after the connect time-out, until the process ends (ADR 0004). Remove
 * this hook when a release resets the variable.
 */
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/node_modules/postgres/src/connection.js')) return loaded;
    const original = String(loaded.source);
    const source = original.replaceAll(
      /^( *)clearImmediate\(nextWriteTimer\)$/gm,
      '$1clearImmediate(nextWriteTimer); chunk = nextWriteTimer = null',
    );
    if (source === original)
      throw new Error(
        `${url} has no clearImmediate(nextWriteTimer): store/db/preload/driver-correction.ts corrects another release of postgres.js`,
      );
    return { ...loaded, source: `${source}\nglobalThis['${correctionMark}'] = true;\n` };
  },
});
