import type { IncomingMessage, ServerResponse } from 'node:http';
import { indexPath, type WebFile } from './web-files.ts';

/** Scripts and styles of this origin, and images of this origin and data URLs. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src blob:',
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  // URLs of the dashboard contain ids of users.
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept-Encoding',
};

/**
 * The index page handles all addresses but assets: one that is missing tells a browser of an outdated page.
 */
export function findWebFile(
  files: ReadonlyMap<string, WebFile>,
  { path, accept = '' }: { path: string; accept: string | undefined },
): WebFile | undefined {
  const file = files.get(path);
  if (file !== undefined) return file;
  const isPage = accept.includes('text/html') && !path.startsWith('/assets/');
  return isPage ? files.get(indexPath) : undefined;
}

/** Answers GET or HEAD; compressed as the browser accepts, or 304 when the browser has the file. */
export function sendWebFile(file: WebFile, request: IncomingMessage, response: ServerResponse): void {
  const cacheControl = file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
  const common = { ...headers, ETag: file.etag, 'Cache-Control': cacheControl };
  if (request.headers['if-none-match']?.includes(file.etag)) {
    response.writeHead(304, common).end();
    return;
  }
  const { body, encoding } = chooseEncoding(file, request.headers['accept-encoding']?.toString() ?? '');
  response.writeHead(200, {
    ...common,
    'Content-Type': file.type,
    'Content-Length': body.length,
    ...(encoding !== undefined && { 'Content-Encoding': encoding }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function chooseEncoding(file: WebFile, accepted: string): { body: Buffer; encoding?: string } {
  for (const encoding of ['br', 'gzip'] as const) {
    const body = file[encoding];
    if (body !== undefined && takes(accepted, encoding)) return { body, encoding };
  }
  return { body: file.plain };
}

/** Whether an `Accept-Encoding` header accepts the encoding, considering `q=0`. */
export function takes(accepted: string, encoding: string): boolean {
  return accepted.split(',').some((one) => {
    // Not by a pattern with spaces before the semicolon: a header of spaces would take quadratic time.
    const [name, ...parameters] = one.split(';').map((part) => part.trim());
    return (
      name?.toLowerCase() === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    );
  });
}
