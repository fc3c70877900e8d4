import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { configSchema } from '../lib/config.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = globSync('{gen,lib,services,cli,scripts,sdk,examples}/**/*.ts', { cwd: root });

/** Who may import whom (design §5): a folder's files import themselves, and what stands here. */
const mayImport: Record<string, readonly string[]> = {
  gen: [],
  lib: ['gen'],
  'services/ingest': ['lib', 'gen'],
  'services/writer': ['lib', 'gen'],
  'services/dashboard-api': ['lib', 'gen'],
  cli: ['lib', 'gen'],
  // The benchmark speaks to the dashboard as its front end does: by the type of the router, and by nothing else.
  scripts: ['lib', 'gen', 'type:services/dashboard-api'],
  examples: ['lib'],
};

const isTest = (file: string) => file.endsWith('.test.ts');
const ownerOf = (file: string) =>
  Object.keys(mayImport).find((folder) => file.startsWith(`${folder}/`)) ?? file;

test('imports go one way', () => {
  expect(sources.length).toBeGreaterThan(100);
  const wrong = sources.filter((file) => !isTest(file)).flatMap(findWrongImports);
  expect(wrong).toEqual([]);
});

function findWrongImports(file: string): string[] {
  const owner = ownerOf(file);
  const allowed = mayImport[owner] ?? [];
  const imports = readFileSync(join(root, file), 'utf8').matchAll(
    /^(import type|import|export)\b[^;]*?from '(\.[^']+)'/gms,
  );
  return [...imports].flatMap(([, kind, path = '']) => {
    const target = ownerOf(relative(root, join(root, dirname(file), path)));
    const isAllowed =
      target === owner ||
      allowed.includes(target) ||
      (kind === 'import type' && allowed.includes(`type:${target}`));
    return isAllowed ? [] : [`${file} imports ${path}`];
  });
}

test('only entry files touch the process', () => {
  const isEntry = (file: string) => /(^|\/)main\.ts$|^scripts\/[^/]+\.ts$|^examples\//.test(file);
  const touching = sources
    .filter((file) => /^(lib|services)\//.test(file) && !isTest(file) && !isEntry(file))
    .filter((file) =>
      /\bprocess\.(env|exit|on|argv|stdout|stderr)\b/.test(readFileSync(join(root, file), 'utf8')),
    );
  expect(touching).toEqual([]);
});

test('a service does not load Drizzle, which costs 100 MB', () => {
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, path = ''] of text.matchAll(/^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)'/gms)) {
      visit(relative(root, join(root, dirname(file), path)));
    }
    expect(text, file).not.toMatch(/^import (?!type\b)[^;]*?from 'drizzle-orm/m);
  };
  for (const service of ['ingest', 'writer', 'dashboard-api']) visit(`services/${service}/main.ts`);
  expect(reached.size).toBeGreaterThan(30);
});

test('the README names every variable of the configuration, and no other', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const inTable = [...readme.matchAll(/^\| `([A-Z][A-Z_]+)` \|/gm)].map(([, name]) => name);
  expect(inTable.sort()).toEqual(Object.keys(configSchema.shape).sort());
});
