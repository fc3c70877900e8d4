import fc from 'fast-check';
import { calls, jsonTexts, targets } from './dashboard-inputs.ts';

/** Generates requests of hostile or broken clients to the dashboard API, as HTTP/1.1 bytes. */

const methods = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('GET', 'POST') },
  fc.constantFrom(
    'HEAD',
    'OPTIONS',
    'PUT',
    'DELETE',
    'PATCH',
    'TRACE',
    'CONNECT',
    'PROPFIND',
    'PURGE',
    'TRACK',
    'get',
    'QUERY',
  ),
);

const headerLines = fc.oneof(
  fc.constantFrom(
    ...[
      'application/json',
      'application/json; charset=utf-16',
      'application/octet-stream',
      'text/plain',
      '',
    ].map((type) => `Content-Type: ${type}`),
    ...[
      'multipart/form-data',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'application/jsonl',
      '\xff',
    ].map((type) => `Content-Type: ${type}`),
    ...[
      'weir_session=x',
      'a',
      '=',
      ';;;',
      'weir_session_80=\xff\xfe',
      'weir_session_80="',
      `weir_session_80=${'A'.repeat(43)}`,
      `a=${'b'.repeat(9_000)}`,
    ].map((cookie) => `Cookie: ${cookie}`),
    ...['null', 'http://evil.test', '\xff', 'x://', ''].map((origin) => `Origin: ${origin}`),
    ...['cross-site', 'same-origin', 'x'].map((site) => `Sec-Fetch-Site: ${site}`),
    ...['gzip', 'br', 'lzma'].map((encoding) => `Content-Encoding: ${encoding}`),
    ...['https', 'https,http', '\xff'].map((protocol) => `X-Forwarded-Proto: ${protocol}`),
    ...['application/jsonl', 'text/event-stream', '*/*', '\xff'].map((accept) => `Accept: ${accept}`),
    ...['application/jsonl', 'x'].map((accept) => `trpc-accept: ${accept}`),
    ...['100-continue', 'miracles'].map((expectation) => `Expect: ${expectation}`),
    'Last-Event-Id: \xff',
    'Upgrade: websocket',
    'Transfer-Encoding: gzip',
    `X: ${'y'.repeat(20_000)}`,
  ),
  fc
    .string({ unit: 'binary-ascii', maxLength: 20 })
    .map((value) => `X-Any: ${value.replace(/[\r\n\0]/g, '')}`),
);

const hosts = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  fc.constantFrom('', 'x:99999', 'a b', '[::1', '%', 'x/y', '\xff', 'user@host', 'x:80:80'),
);

const bodies = fc.oneof(
  { weight: 3, arbitrary: jsonTexts.map((text) => Buffer.from(text)) },
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.alloc(200_000, ' ')),
);

const rest = {
  host: hosts,
  headers: fc.array(headerLines, { maxLength: 4 }),
  isJson: fc.boolean(),
  isSignedIn: fc.boolean(),
};

/** A request after which its connection is closed. */
export interface AnyRequest {
  /** @param cookie of a signed-in user. Some requests do not send it. */
  toBytes(server: { host: string; cookie: string }): Buffer;
  toString(): string;
}

export const anyRequest: fc.Arbitrary<AnyRequest> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ ...rest, method: methods, target: targets, body: bodies }).map(toRequest),
  },
  fc
    .record({ ...rest, call: calls })
    .map(({ call, ...parts }) =>
      toRequest({ ...parts, ...call, host: undefined, isJson: true, headers: [] }),
    ),
);

function toRequest(parts: Parts): AnyRequest {
  return {
    toBytes: (server) => toBytes(parts, server),
    toString: () => JSON.stringify({ ...parts, body: parts.body.toString('latin1', 0, 500) }),
  };
}

interface Parts {
  method: string;
  target: string;
  host: string | undefined;
  headers: string[];
  isJson: boolean;
  body: Buffer;
  isSignedIn: boolean;
}

function toBytes(parts: Parts, server: { host: string; cookie: string }): Buffer {
  const { method, target, host = server.host, headers, isJson, body, isSignedIn } = parts;
  // Excluded, because it would leave every later request without a session.
  const sendsCookie = isSignedIn && !target.includes('signOut');
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    `Content-Length: ${body.length}`,
    ...(isJson ? ['Content-Type: application/json'] : []),
    ...(sendsCookie ? [`Cookie: ${server.cookie}`] : []),
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}
