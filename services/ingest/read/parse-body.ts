import { isUtf8 } from 'node:buffer';
import { IngestError } from '../../../event/errors.ts';
import { limitDepth } from '../../../event/json/depth.ts';
import { parseEscapedKeys } from '../../../event/json/parse-escaped-keys.ts';
import { jsonDepthMax } from '../../../platform/limits.ts';

/** The bytes without a UTF-8 byte order mark, which a parser may ignore (RFC 8259 §8.1). */
export function withoutBom(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/**
 * Parses a whole request body as JSON. Of duplicate keys the last one wins; `__proto__` is a key like any
 * other. Values nested too deep are emptied one level below the limit, so that the depth check still rejects
 * the result.
 * @throws IngestError `invalid_request_body` when the body is missing, not UTF-8, or not JSON.
 */
export function parseBody(body: Buffer): unknown {
  if (body.length === 0) throw new IngestError('invalid_request_body', 'The request body is missing.');
  if (!isUtf8(body)) throw new IngestError('invalid_request_body', 'The request body is not valid UTF-8.');
  const { bytes, hasEscapedKey } = limitDepth(body, jsonDepthMax + 1);
  try {
    return hasEscapedKey ? parseEscapedKeys(bytes) : JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    // JSON.parse's message quotes the body: publish only a position, if it parsed the unchanged body.
    const sawAll = bytes === body && !hasEscapedKey;
    const position = sawAll && /at position \d+/.exec(String(error))?.[0];
    throw new IngestError(
      'invalid_request_body',
      `The request body is not valid JSON${position ? `: error ${position}` : ''}.`,
      { cause: error },
    );
  }
}
