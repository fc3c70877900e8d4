import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/** Buffered while the output accepts none. */
const logBytesWaitingMax = 1024 * 1024;

export type { Logger };

/**
 * Opens a log with one line of JSON an entry, by default on stdout. Entries contain ids, counts, bytes and
 * times, never event content and never a key; redaction is a second line of defence.
 */
export function openLog(
  service: string,
  config: Pick<Config, 'LOG_LEVEL'>,
  output: DestinationStream = openOutput(),
): Logger {
  const options = {
    name: service,
    level: config.LOG_LEVEL,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    redact: {
      paths: ['authorization', '*.authorization', 'apiKey', '*.apiKey', 'password', '*.password'],
      censor: '…',
    },
  };
  return pino(options, output);
}

/** Serialises an error and its causes, without the fields that may quote users' data. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // Postgres quotes rows and values in `detail` and `where`.
  const { cause: _, detail: __, where: ___, ...shown } = pino.stdSerializers.errWithCause(error);
  return error.cause === undefined ? shown : { ...shown, cause: describeError(error.cause) };
}

/**
 * Standard output. A failed write, as on a full disk, must not end the service: entries are buffered, and
 * dropped when the buffer is full. Synchronous: the few last entries before a crash matter most.
 */
function openOutput() {
  const output = pino.destination({ dest: 1, sync: true, maxLength: logBytesWaitingMax });
  output.on('error', () => {});
  return output;
}
