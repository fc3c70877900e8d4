import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { logBytesWaitingMax } from './limits.ts';

export type { Logger };

/**
 * The service's logger: one JSON line an entry on stdout. Entries carry ids, counts, bytes and times; never event
 * content, never a key. The redaction is a second lock on that door.
 */
export function openLog(service: string, config: Pick<Config, 'LOG_LEVEL'>): Logger {
  const options = {
    name: service,
    level: config.LOG_LEVEL,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['authorization', '*.authorization', 'apiKey', '*.apiKey', 'password', '*.password'],
      censor: '…',
    },
  };
  return pino(options, openOutput());
}

/**
 * Standard output, which cannot end the service: a disk that is full must not, of all things, stop what would answer 503.
 * Entries wait for it, and those that do not fit are dropped. They are written at once: an entry is rare, and the last
 * ones before a crash are those that matter.
 */
function openOutput() {
  const output = pino.destination({ dest: 1, sync: true, maxLength: logBytesWaitingMax });
  output.on('error', () => {});
  return output;
}
