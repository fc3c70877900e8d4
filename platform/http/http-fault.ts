import type { IncomingMessage } from 'node:http';

/** RFC 3986 §3.2: a name or an address, and a port. */
const hostPattern = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/**
 * Finds requests that Node's parser accepts against RFC 9112: a proxy in front could parse the same bytes as
 * another request (request smuggling).
 * @returns the fault, as the end of a sentence; undefined for a valid request.
 */
export function findHttpFault({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'its version is neither 1.1 nor 1.0';
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = [rawHeaders[i], rawHeaders[i + 1]];
    if (isName(name, 'host')) {
      hosts += 1;
      if (!hostPattern.test(value)) return 'its Host is malformed';
    } else if (isName(name, 'transfer-encoding')) {
      if (httpVersion === '1.0') return 'HTTP/1.0 has no Transfer-Encoding';
      if (value.toLowerCase() !== 'chunked') return 'its Transfer-Encoding must be chunked, or absent';
    }
  }
  if (hosts > 1) return 'it has more than one Host';
  return hosts === 0 && httpVersion === '1.1' ? 'it has no Host' : undefined;
}

/** Compares lengths first: lower-casing every header name would cost more than all other checks. */
function isName(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted;
}
