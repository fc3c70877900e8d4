import { isUtf8 } from 'node:buffer';
import { IngestError } from '../../lib/errors.ts';
import { cutDeeper } from '../../lib/json/depth.ts';
import { parseApart } from '../../lib/json/parse-apart.ts';
import { jsonDepthMax } from '../../lib/limits.ts';

/**
 * Parses a request body as JSON. Duplicate keys: the last wins. `__proto__` is a key like any other.
 * What lies too deep is left out, one level below the deepest that a body may have: the value is still too deep.
 *
 * @throws IngestError `invalid_request_body` when it is missing, not UTF-8, or not JSON.
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new IngestError('invalid_request_body', 'The request body is missing.');
  if (!isUtf8(bytes)) throw new IngestError('invalid_request_body', 'The request body is not valid UTF-8.');
  const shallow = cutDeeper(bytes, jsonDepthMax + 1);
  try {
    const text = shallow.toString('utf8');
    return /"\\(?:\\|u005c)/i.test(text) ? parseApart(text) : JSON.parse(text);
  } catch (error) {
    // Of the parser's message only the position is ours to tell, if it is one in the body; the rest quotes the body.
    const position = shallow === bytes && /at position \d+/.exec(String(error))?.[0];
    throw new IngestError(
      'invalid_request_body',
      `The request body is not valid JSON${position ? `: error ${position}` : ''}.`,
      {
        cause: error,
      },
    );
  }
}
