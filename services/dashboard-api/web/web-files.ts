import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** A file of the built pages, as it is sent. */
export interface WebFile {
  type: string;
  etag: string;
  /** Its name has a hash of its content: a browser never has to ask for it again. */
  isImmutable: boolean;
  plain: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  // The TypeScript SDK, which npm installs from here.
  '.tgz': 'application/gzip',
};

/** Files that stand for others in the same directory: they are sent in their place, and have no path. */
const compressed = ['.br', '.gz'];

export const indexPath = '/index.html';

/** Texts that the built `index.html` has a place for: `<meta name="…" content="">`. */
export interface PageFacts {
  'weir-ingest-url': string;
}

/**
 * Reads a build of the pages into memory. Compressed forms are taken from the files with `.br` and `.gz` beside them.
 *
 * @returns the files by their path in the address.
 * @throws Error when the directory has no `index.html`, or a file of an unknown type.
 */
export function readWebFiles(directory: string, facts: PageFacts): ReadonlyMap<string, WebFile> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !compressed.includes(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name));
  const files = new Map(
    names.map((name) => [`/${relative(directory, name).replaceAll(sep, '/')}`, readWebFile(name)]),
  );
  const index = files.get(indexPath);
  if (index === undefined) throw new Error(`${directory} has no index.html: build the pages first`);
  const text = fillFacts(index.plain.toString(), facts);
  const html = Buffer.from(text);
  files.set(indexPath, {
    ...index,
    plain: html,
    etag: etagOf(html),
    br: brotliCompressSync(html),
    gzip: gzipSync(html),
  });
  return files;
}

function readWebFile(name: string): WebFile {
  const type = types[extname(name)];
  if (type === undefined) throw new Error(`${name} has a type that is not served`);
  const plain = readFileSync(name);
  return {
    type,
    etag: etagOf(plain),
    isImmutable: /-[\w-]{8}\.\w+$/.test(name) && name.includes(`${sep}assets${sep}`),
    plain,
    br: readIfThere(`${name}.br`),
    gzip: readIfThere(`${name}.gz`),
  };
}

function readIfThere(name: string): Buffer | undefined {
  try {
    return readFileSync(name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function fillFacts(html: string, facts: PageFacts): string {
  return Object.entries(facts).reduce(
    (text, [name, value]) =>
      text.replace(
        `<meta name="${name}" content="">`,
        () => `<meta name="${name}" content="${escapeHtml(value)}">`,
      ),
    html,
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

function etagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}
