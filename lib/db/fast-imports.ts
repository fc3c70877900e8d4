import { registerHooks } from 'node:module';

/**
 * Makes loading Drizzle cheap, and corrects postgres.js: `node --import ./lib/db/fast-imports.ts`, before anything that
 * imports them.
 *
 * Node 26 parses drizzle-orm's package.json, 179 KB, again for each of its 300 modules: 0.4 s, and 240 MB of garbage. A
 * relative import inside the package needs no package.json, as every such file is an ES module (ADR 0014). Without this
 * hook everything works, and starts slower.
 */
registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL } = context;
    if (!specifier.startsWith('.') || parentURL?.includes('/node_modules/drizzle-orm/') !== true) {
      return nextResolve(specifier, context);
    }
    // `require` between the package's CommonJS files ends with .cjs.
    const format = specifier.endsWith('.js') ? 'module' : 'commonjs';
    return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
  },
});

/**
 * postgres.js writes a query later in the turn of the event loop in which it is sent. When the connection closes before, the
 * driver cancels that write, but remembers it as planned: it writes nothing on this connection any more, and each query on it
 * fails after the connect time-out, until the process ends (ADR 0004). Remove this hook with a release that forgets the write.
 */
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/node_modules/postgres/src/connection.js')) return loaded;
    const source = String(loaded.source).replaceAll(
      /^( *)clearImmediate\(nextWriteTimer\)$/gm,
      '$1clearImmediate(nextWriteTimer); chunk = nextWriteTimer = null',
    );
    return { ...loaded, source };
  },
});
