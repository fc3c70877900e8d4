import { constants, type ServerHttp2Stream } from 'node:http2';
import { bodyTimeoutMs, endStreamCheckMs } from './limits.ts';

/**
 * Node has no time-outs for HTTP/2 streams. A stream is reset, without a status, when its body does not arrive in time,
 * or when the client does not read the answer, for example by keeping its flow-control window closed.
 */
export function limitStream(stream: ServerHttp2Stream): void {
  const check = setInterval(() => {
    if (!stream.readableEnded || stream.writableEnded) stream.close(constants.NGHTTP2_CANCEL);
  }, bodyTimeoutMs);
  stream.once('end', () => check.refresh());
  stream.once('finish', () => stopUnreadBody(stream));
  stream.once('close', () => clearInterval(check));
  stream.on('error', () => {});
}

/**
 * Asks the client to stop sending a request that is answered already. RST_STREAM(NO_ERROR) may follow a complete
 * response only (RFC 9113 §8.1), and `finish` comes before the frame with END_STREAM, or the trailers, are sent: a reset
 * at that moment would replace them. Node has no event for their sending, so nghttp2's stream state is polled.
 */
function stopUnreadBody(stream: ServerHttp2Stream): void {
  if (stream.closed || stream.destroyed) return;
  const { localClose, remoteClose } = stream.state;
  // The client has sent its END_STREAM: the stream closes by itself.
  if (remoteClose === 1) return;
  if (localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR);
  else setTimeout(stopUnreadBody, endStreamCheckMs, stream);
}
