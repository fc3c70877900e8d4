import { registerHooks } from 'node:module';
import { correctionMark } from './correction-mark.ts';

/**
 * Corrects postgres.js, which is not safe without it: `openPostgres` asserts it.
 *
 * - The driver defers a write to the end of the event-loop turn. When the connection closes before, it does
 *   not reset the timer's variable, never writes on this connection again, and each query fails after the
 *   connect time-out (ADR 0004).
 * - A statement of a transaction whose connection was closed is written to no socket, in a turn of its own:
 *   the error ends the process.
 *
 * Remove a correction when a release has it.
 */
const corrections: readonly [from: RegExp, to: string][] = [
  [
    /^( *)clearImmediate\(nextWriteTimer\)$/gm,
    '$1clearImmediate(nextWriteTimer); chunk = nextWriteTimer = null',
  ],
  [
    /^ *if \(terminated\)$/gm,
    `if (socket === null) {
      queryError(q, Errors.connection('CONNECTION_CLOSED', options))
      return true
    }
$&`,
  ],
];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/node_modules/postgres/src/connection.js')) return loaded;
    let source = String(loaded.source);
    for (const [from, to] of corrections) {
      const corrected = source.replaceAll(from, to);
      if (corrected === source)
        throw new Error(
          `${url} has no ${from}: store/db/preload/driver-correction.ts corrects another release of postgres.js`,
        );
      source = corrected;
    }
    return { ...loaded, source: `${source}\nglobalThis['${correctionMark}'] = true;\n` };
  },
});
