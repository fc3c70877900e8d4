import { type ResolveHookContext, registerHooks } from 'node:module';

/** Packages whose files name each other by relative imports with extensions, all of them ES modules. */
const modular = /\/node_modules\/(?:drizzle-orm|zod|@bufbuild\/protobuf|@connectrpc\/[\w-]+)\//;

/**
 * Makes loading our files and large packages cheap, and corrects postgres.js: `node --import ./lib/db/fast-imports.ts`, before
 * anything that imports them.
 *
 * Node 26 looks for the package.json of each module, and parses it again: drizzle-orm's of 179 KB for 300 modules takes 0.4 s and
 * leaves 240 MB of garbage, the others together take 0.1 s. A relative import needs none where the format is known (ADR 0014).
 * Without this hook everything works, and starts slower.
 */
registerHooks({
  resolve(specifier, context, nextResolve) {
    const format = formatOf(specifier, context);
    if (format === undefined) return nextResolve(specifier, context);
    return { url: new URL(specifier, context.parentURL).href, format, shortCircuit: true };
  },
});

/** @returns undefined where Node must find out. */
function formatOf(specifier: string, { parentURL, conditions }: ResolveHookContext): string | undefined {
  if (parentURL === undefined || !specifier.startsWith('.')) return undefined;
  if (!parentURL.includes('/node_modules/'))
    return specifier.endsWith('.ts') ? 'module-typescript' : undefined;
  if (!modular.test(parentURL)) return undefined;
  if (conditions.includes('import')) return specifier.endsWith('.js') ? 'module' : undefined;
  // `require` between CommonJS files of Drizzle ends with .cjs.
  return specifier.endsWith('.cjs') ? 'commonjs' : undefined;
}

/**
 * postgres.js writes a query later in the turn of the event loop in which it is sent. When the connection closes before, the
 * driver cancels that write, but remembers it as planned: it writes nothing on this connection any more, and each query on it
 * fails after the connect time-out, until the process ends (ADR 0004). Remove this hook with a release that forgets the write.
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
        `${url} has no clearImmediate(nextWriteTimer): lib/db/fast-imports.ts corrects another release of postgres.js`,
      );
    return { ...loaded, source };
  },
});
