import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { ConfigError } from '../../../platform/config/config-error.ts';
import type { Config } from '../../../platform/config.ts';
import { codeOf, messageOf } from '../../../platform/thrown.ts';
import { builtPages } from '../../../platform/version.ts';

export interface WebFile {
  type: string;
  etag: string;
  /** The name contains a hash of the content, so browsers may cache the file forever. */
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
  // The SDKs, which npm and pip can install from this server.
  '.tgz': 'application/gzip',
  '.whl': 'application/zip',
};

/** Extensions of compressed variants, which have no path of their own. */
const compressed = ['.br', '.gz'];

export const indexPath = '/index.html';

/** Texts for the placeholders in the built `index.html`: `<meta name="…" content="">`. */
export interface PageValues {
  'weir-ingest-url': string;
  /** DASHBOARD_BASE_PATH. The addresses of the page's own files begin with it, too. */
  'weir-base-path': string;
}

/**
 * Reads the built pages into memory, with compressed variants from `.br` and `.gz` files. @returns by URL
 * path.
 * @throws Error when the directory has no `index.html`, or a file of an unknown type.
 */
export function readWebFiles(directory: string, values: PageValues): ReadonlyMap<string, WebFile> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !compressed.includes(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name));
  const files = new Map(
    names.map((name) => [`/${relative(directory, name).replaceAll(sep, '/')}`, readWebFile(name)]),
  );
  const index = files.get(indexPath);
  if (index === undefined) throw new Error(`${directory} has no index.html: build the pages first`);
  const text = fillValues(index.plain.toString(), values);
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
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function fillValues(html: string, values: PageValues): string {
  const filled = Object.entries(values).reduce(
    (text, [name, value]) =>
      text.replace(
        `<meta name="${name}" content="">`,
        () => `<meta name="${name}" content="${escapeHtml(value)}">`,
      ),
    html,
  );
  // The page is sent for addresses of any depth.
  return filled.replaceAll(/(href|src)="\.\//g, `$1="${values['weir-base-path']}/`);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

function etagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

/**
 * Reads pages from the configured directory, or the npm package. @returns undefined without pages.
 * @throws ConfigError when the directory has no build of the pages.
 */
export function openWeb(
  config: Pick<Config, 'DASHBOARD_WEB_DIR' | 'DASHBOARD_BASE_PATH'> & Parameters<typeof ingestUrlOf>[0],
): ReadonlyMap<string, WebFile> | undefined {
  const directory = config.DASHBOARD_WEB_DIR ?? builtPages;
  if (directory === undefined) return undefined;
  try {
    return readWebFiles(directory, {
      'weir-ingest-url': ingestUrlOf(config),
      'weir-base-path': config.DASHBOARD_BASE_PATH,
    });
  } catch (error) {
    throw new ConfigError(`DASHBOARD_WEB_DIR cannot be served: ${messageOf(error)}`, { cause: error });
  }
}

/** The address of ingest, for the pages and for senders that call the dashboard by mistake. */
export function ingestUrlOf(
  config: Pick<Config, 'INGEST_URL' | 'INGEST_HOST' | 'INGEST_PORT' | 'TLS_CERT_FILE'>,
): string {
  const scheme = config.TLS_CERT_FILE === undefined ? 'http' : 'https';
  const host = config.INGEST_HOST.includes(':') ? `[${config.INGEST_HOST}]` : config.INGEST_HOST;
  return config.INGEST_URL?.replace(/\/+$/, '') ?? `${scheme}://${host}:${config.INGEST_PORT}`;
}
