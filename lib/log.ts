import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

export type { Logger };

/**
 * The service's logger: one JSON line an entry on stdout. Entries carry ids, counts, bytes and times; never event
 * content, never a key. The redaction is a second lock on that door.
 */
export function openLog(service: string, config: Pick<Config, 'LOG_LEVEL'>): Logger {
  return pino({
    name: service,
    level: config.LOG_LEVEL,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['authorization', '*.authorization', 'apiKey', '*.apiKey', 'password', '*.password'],
      censor: '…',
    },
  });
}
