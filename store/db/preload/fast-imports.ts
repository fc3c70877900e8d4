import { type ResolveFnOutput, type ResolveHookContext, registerHooks } from 'node:module';

/** ES modules that import each other by relative paths with extensions. */
const modular = /\/node_modules\/(?:drizzle-orm|zod|@bufbuild\/protobuf|@connectrpc\/[\w-]+)\//;

/**
 * Node 26 parses the package.json again for each module: drizzle-orm's 179 KB for 300 modules take 0.4 s and
 * leave 240 MB of garbage, others 0.1 s. A relative import of a known format does not need it, and a
 * package's name is resolved once (ADR 0014). Everything works without this hook, but starts more slowly.
 */
registerHooks({
  resolve(specifier, context, nextResolve) {
    const format = formatOf(specifier, context);
    if (format !== undefined)
      return { url: new URL(specifier, context.parentURL).href, format, shortCircuit: true };
    const key = packageKeyOf(specifier, context);
    if (key === undefined) return nextResolve(specifier, context);
    const known = packages.get(key) ?? { ...nextResolve(specifier, context), shortCircuit: true };
    packages.set(key, known);
    return known;
  },
});

const ownRoot = new URL('../../../', import.meta.url).href;
/** A folder of ours: `sdk` has a package.json of its own. */
const ownFolder = new RegExp(`^${RegExp.escape(ownRoot)}[^/]+/`);
/** Sources are TypeScript; the npm package, which is itself in a node_modules, has them compiled. */
const ownFormat = import.meta.url.endsWith('.ts') ? 'module-typescript' : 'module';

const isOwn = (url: string) => url.startsWith(ownRoot) && !url.includes('/node_modules/', ownRoot.length - 1);

/** Resolved names of packages. */
const packages = new Map<string, ResolveFnOutput>();

/** Equal for imports that one package's files resolve alike; undefined where Node must resolve each. */
function packageKeyOf(
  specifier: string,
  { parentURL, conditions, importAttributes }: ResolveHookContext,
): string | undefined {
  if (parentURL === undefined || !/^[@\w]/.test(specifier) || importAttributes?.type !== undefined)
    return undefined;
  const [parent] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(parentURL) ?? ownFolder.exec(parentURL) ?? [];
  return parent && `${specifier} ${parent} ${conditions}`;
}

/** @returns undefined when Node must determine the format. */
function formatOf(specifier: string, { parentURL, conditions }: ResolveHookContext): string | undefined {
  if (parentURL === undefined || !specifier.startsWith('.')) return undefined;
  if (isOwn(parentURL)) return /\.[tj]s$/.test(specifier) ? ownFormat : undefined;
  if (!modular.test(parentURL)) return undefined;
  if (conditions.includes('import')) return specifier.endsWith('.js') ? 'module' : undefined;
  // `require` between CommonJS files of Drizzle ends with .cjs.
  return specifier.endsWith('.cjs') ? 'commonjs' : undefined;
}
