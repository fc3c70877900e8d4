import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/**
 * Largest sizes of the dashboard's files in bytes after gzip: those that a browser loads before the first
 * page, and all.
 */
export const webBudgets = { firstScripts: 200_000, firstStyles: 15_000, all: 450_000 } as const;

/** The compressed sizes of a build of the pages. */
export type WebSize = Record<keyof typeof webBudgets, number>;

/**
 * Measures a build. The first page needs the files that `index.html` names, and what those import at once.
 */
export function measureWeb(directory: string): WebSize {
  const assets = join(directory, 'assets');
  const names = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name));
  const first = findFirst(readFileSync(join(directory, 'index.html'), 'utf8'), (name) =>
    readFileSync(join(assets, name), 'utf8'),
  );
  const sum = (some: readonly string[]) =>
    some.reduce((bytes, name) => bytes + gzipSync(readFileSync(join(assets, name)), { level: 9 }).length, 0);
  return {
    firstScripts: sum(first.filter((name) => name.endsWith('.js'))),
    firstStyles: sum(first.filter((name) => name.endsWith('.css'))),
    all: sum(names),
  };
}

/** The sizes that exceed their budgets, as messages. */
export function findOverweight(size: WebSize): string[] {
  const kinds = Object.keys(webBudgets) as (keyof WebSize)[];
  return kinds
    .filter((kind) => size[kind] > webBudgets[kind])
    .map((kind) => `${kind}: ${size[kind]} bytes, ${webBudgets[kind]} are allowed`);
}

/** The assets that a page names, and those that they import statically, transitively. */
export function findFirst(html: string, read: (name: string) => string): string[] {
  const found = new Set<string>();
  const visit = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    if (!name.endsWith('.js')) return;
    // Static imports only: `import("./x.js")` is loaded when a page needs it.
    for (const [, imported = ''] of read(name).matchAll(/(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g))
      visit(imported);
  };
  for (const [, name = ''] of html.matchAll(/(?:src|href)="\.\/assets\/([\w.-]+\.(?:js|css))"/g)) visit(name);
  return [...found];
}
