import { registerHooks } from 'node:module';
import { correctionMark } from './correction-mark.ts';

/**
 * Corrects postgres.js, which is not safe without it: `openPostgres` asserts it. The driver defers a write to
 * the end of the event-loop turn. When the connection closes before, it does not reset the timer's variable,
 * never writes on this connection again, and each query fails after the connect time-out (ADR 0004). Remove
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
