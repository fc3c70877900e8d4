import { describe, expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import {
  authorizationOf,
  expectRawError,
  rawPost,
  requestLine,
  talk,
} from '../support/protocols/raw-http.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countRows, untilDrained } from '../support/wait.ts';

const { pipeline, tenant } = usePipeline();

/** The head of a request, followed by the body `{}` or by other bytes. */
const head = (headers: string, body = '{}') => `${requestLine}${headers}\r\n${body}`;
const chunked = (body: string, headers = 'Transfer-Encoding: chunked\r\n') =>
  head(`Host: x\r\n${headers}`, body);
const wholeChunks = '2\r\n{}\r\n0\r\n\r\n';
const long = 'x'.repeat(100_000);

const malformed: Record<string, string> = {
  'Content-Length and Transfer-Encoding': chunked(
    '0\r\n\r\n',
    'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n',
  ),
  'Transfer-Encoding and Content-Length': chunked(
    '0\r\n\r\n',
    'Transfer-Encoding: chunked\r\nContent-Length: 2\r\n',
  ),
  'two equal Content-Lengths': head('Host: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n'),
  'two different Content-Lengths': head('Host: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n'),
  'a list of Content-Lengths': head('Host: x\r\nContent-Length: 2, 2\r\n'),
  'a Content-Length with a sign': head('Host: x\r\nContent-Length: +2\r\n'),
  'a negative Content-Length': head('Host: x\r\nContent-Length: -2\r\n'),
  'a hexadecimal Content-Length': head('Host: x\r\nContent-Length: 0x2\r\n'),
  'a Content-Length past 64 bits': head('Host: x\r\nContent-Length: 18446744073709551618\r\n'),
  'an empty Content-Length': head('Host: x\r\nContent-Length:\r\n'),
  'a space before the colon': head('Host: x\r\nContent-Length : 2\r\n'),
  'a header without a colon': head('Host: x\r\nContent-Length 2\r\n'),
  'a header without a name': head('Host: x\r\n: 2\r\n'),
  'a folded header': head('Host: x\r\nX: a\r\n b\r\nContent-Length: 2\r\n'),
  'white space before the first header': head(' Host: x\r\nContent-Length: 2\r\n'),
  'bare line feeds': head('Host: x\r\nContent-Length: 2\r\n').replaceAll('\r', ''),
  'a bare line feed after the request line': head('Host: x\r\nContent-Length: 2\r\n').replace('\r', ''),
  'a bare line feed after a header': head('Host: x\nContent-Length: 2\r\n'),
  'a bare line feed before the body': head('Host: x\r\nContent-Length: 2\r\n').replace('\r\n{', '\n{'),
  'a bare carriage return': head('Host: x\rX: y\r\nContent-Length: 2\r\n'),
  'NUL in a value': head('Host: x\r\nX: a\0b\r\nContent-Length: 2\r\n'),
  'NUL in a name': head('Host: x\r\nX\0: a\r\nContent-Length: 2\r\n'),
  'a control character in a value': head('Host: x\r\nX: a\x01b\r\nContent-Length: 2\r\n'),
  'no Host': head('Content-Length: 2\r\n'),
  'two equal Hosts': head('Host: x\r\nHost: x\r\nContent-Length: 2\r\n'),
  'two different Hosts': head('Host: x\r\nHOST: y\r\nContent-Length: 2\r\n'),
  'two Hosts in one': head('Host: x, y\r\nContent-Length: 2\r\n'),
  'a Host with a path': head('Host: x/y\r\nContent-Length: 2\r\n'),
  'a Host with a user': head('Host: me@x\r\nContent-Length: 2\r\n'),
  'gzip as Transfer-Encoding': chunked(wholeChunks, 'Transfer-Encoding: gzip\r\n'),
  'gzip and chunked': chunked(wholeChunks, 'Transfer-Encoding: gzip, chunked\r\n'),
  'gzip and chunked in two headers': chunked(
    wholeChunks,
    'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n',
  ),
  'chunked twice': chunked(wholeChunks, 'Transfer-Encoding: chunked, chunked\r\n'),
  'chunked in two headers': chunked(
    wholeChunks,
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
  ),
  'chunked with a parameter': chunked(wholeChunks, 'Transfer-Encoding: chunked;q=1\r\n'),
  'chunked before identity': chunked(wholeChunks, 'Transfer-Encoding: chunked, identity\r\n'),
  'something like chunked': chunked(wholeChunks, 'Transfer-Encoding: xchunked\r\n'),
  'chunked behind a vertical tab': chunked(wholeChunks, 'Transfer-Encoding: \x0bchunked\r\n'),
  'an empty Transfer-Encoding': chunked(wholeChunks, 'Transfer-Encoding:\r\n'),
  'Transfer-Encoding in HTTP/1.0': chunked(wholeChunks).replace('HTTP/1.1', 'HTTP/1.0'),
  'two Hosts in HTTP/1.0': head('Host: x\r\nHost: x\r\nContent-Length: 2\r\n').replace(
    'HTTP/1.1',
    'HTTP/1.0',
  ),
  'an invalid chunk size': chunked('zz\r\n{}\r\n0\r\n\r\n'),
  'a negative chunk size': chunked('-2\r\n{}\r\n0\r\n\r\n'),
  'a chunk size with a prefix': chunked('0x2\r\n{}\r\n0\r\n\r\n'),
  'a chunk size past 64 bits': chunked('10000000000000002\r\n{}\r\n0\r\n\r\n'),
  'no chunk size': chunked('\r\n{}\r\n0\r\n\r\n'),
  'a space after a chunk size': chunked('2 \r\n{}\r\n0\r\n\r\n'),
  'a chunk that is longer than its size': chunked('2\r\n{}}\r\n0\r\n\r\n'),
  'a chunk that ends with a bare line feed': chunked('2\r\n{}\n0\r\n\r\n'),
  'a chunk size that ends with a bare line feed': chunked('2\n{}\r\n0\r\n\r\n'),
  'an overlong chunk extension': chunked(`2;a=${long}\r\n{}\r\n0\r\n\r\n`),
  'a trailer without a colon': chunked('2\r\n{}\r\n0\r\nX y\r\n\r\n'),
  'Content-Length as a trailer': chunked('2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n'),
  'an overlong trailer': chunked(`2\r\n{}\r\n0\r\nX: ${long}\r\n\r\n`),
  'an overlong header': head(`Host: x\r\nX: ${long}\r\n`),
  'thousands of headers': head(`Host: x\r\n${'X: y\r\n'.repeat(3_000)}Content-Length: 2\r\n`),
  'an overlong path': `GET /${long} HTTP/1.1\r\nHost: x\r\n\r\n`,
  'bytes in the path': 'GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n',
  'a space in the path': 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n',
  'an unknown method': 'FETCH /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
  'a method in lower case': 'get /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
  'no version': 'GET /healthz\r\nHost: x\r\n\r\n',
  'HTTP/0.9': 'GET /healthz\r\n\r\n',
  'HTTP/1.2': 'GET /healthz HTTP/1.2\r\nHost: x\r\n\r\n',
  'HTTP/2.0 without its preface': 'GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n',
  'HTTP/3.0': 'GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n',
  'another protocol': 'GET /healthz SIP/2.0\r\nHost: x\r\n\r\n',
  'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'binary bytes': '\x00\x01\x02\xff\r\n\r\n',
};

describe('malformed and ambiguous requests', () => {
  test.each(Object.entries(malformed))('%s gets one 400, and the connection is closed', async (_, bytes) => {
    const withKey = bytes.replace('\r\n', `\r\n${authorizationOf(tenant)}`);
    for (const request of [bytes, bytes.includes('\r\nHost') ? withKey : bytes]) {
      // The valid batch after it must not be accepted.
      const answers = await talk(
        pipeline.url,
        request + rawPost(tenant, JSON.stringify({ events: [llmEvent()] })),
      );
      expect(answers).toHaveLength(1);
      expectRawError(answers[0], 'invalid_request_body');
      expect(answers[0]?.headers.get('connection')).toBe('close');
    }
  });

  test('no batch that followed a malformed request was stored', async () => {
    await untilDrained(pipeline);
    expect(await countRows(pipeline, tenant.spaceId)).toBe(0);
  });
});
