import type { Receipt } from '../deliver/receipt.ts';
import { dropUndefined } from '../event/drop-undefined.ts';
import type { Mask } from '../event/redact.ts';
import type { DropReport } from '../queue/counters.ts';
import type { SpoolStore } from '../queue/spool-store.ts';
import { readVariable } from '../runtime/platform.ts';
import { platformRuntime, type Runtime } from '../runtime/runtime.ts';
import type { WaitUntil } from '../runtime/serverless.ts';

export interface WeirOptions {
  /** Address of ingest. Default: `WEIR_URL`, or `http://127.0.0.1:8080`. */
  url?: string;
  /** Default: `WEIR_API_KEY`. Without a key the SDK records nothing, and prints one warning. */
  apiKey?: string;
  /** False turns the SDK off: wrappers pass calls through unchanged. Default true. */
  enabled?: boolean;
  /** The value that this Weir requires in `instrumentation.vendor`. Default `weir`. */
  vendor?: string;
  /** The version of the program. Default: `WEIR_RELEASE`. Stored as the dimension `release`. */
  release?: string;
  /** Such as `production`. Default: `WEIR_ENVIRONMENT`. Stored as the dimension `environment`. */
  environment?: string;
  /** Tags of every event, stored joined by `, ` as the dimension `tags`. */
  tags?: readonly string[];
  /**
   * `metadata` leaves out prompts, responses, tool arguments and results, and error messages. Default `full`.
   */
  content?: 'full' | 'metadata';
  /** Changes each event before it is stored anywhere. If it throws, all content of the event is removed. */
  mask?: Mask;
  /** Share of traces to keep, 0 to 1. Events with errors are always kept. Default 1. */
  sampleRate?: number;
  /** Stores events on disk until Weir has accepted them: `fileSpool()` of `@weir/sdk/spool`. */
  spool?: SpoolStore;
  /** On 402: drop events, or keep them in the spool until the quota resets. Default `drop`. */
  onQuota?: 'drop' | 'spool';
  /** Called with the number of dropped events, at most every 10 s. */
  onDrop?: (report: DropReport) => void;
  /** Called for each batch that is durable in Weir. */
  onAccepted?: (receipt: Receipt) => void;
  /** Keeps a serverless invocation alive. Default: Vercel's, if there is one. */
  waitUntil?: WaitUntil;
  /** The fetch that sends events to Weir. Default: the global one. */
  fetch?: typeof fetch;
  /** Additional request headers, for a proxy in front of Weir. */
  headers?: Record<string, string>;
  /** Flush when the event loop is empty. Default true. */
  flushOnExit?: boolean;
  /** Clock, timers and random numbers, for tests. */
  runtime?: Runtime;
}

/** The options, completed from environment variables and defaults. */
export interface Settings extends WeirOptions {
  url: string;
  apiKey: string;
  isEnabled: boolean;
  vendor: string;
  sampleRate: number;
  runtime: Runtime;
}

const defaultUrl = 'http://127.0.0.1:8080';

/** Completes the options. Invalid options turn the SDK off with one warning on the console. Never throws. */
export function readSettings(options: WeirOptions): Settings {
  const url = options.url ?? readVariable('WEIR_URL') ?? defaultUrl;
  const apiKey = options.apiKey ?? readVariable('WEIR_API_KEY') ?? '';
  const isWanted = options.enabled ?? readVariable('WEIR_DISABLED') === undefined;
  const release = options.release ?? readVariable('WEIR_RELEASE');
  const environment = options.environment ?? readVariable('WEIR_ENVIRONMENT');
  const fault = isWanted ? findFault(url, apiKey) : undefined;
  if (fault !== undefined) console.warn(`weir: ${fault} Nothing is recorded.`);
  return {
    ...options,
    ...dropUndefined({ release, environment }),
    url,
    apiKey,
    isEnabled: isWanted && fault === undefined,
    vendor: options.vendor ?? 'weir',
    sampleRate: options.sampleRate ?? 1,
    runtime: options.runtime ?? platformRuntime,
  };
}

function findFault(url: string, apiKey: string): string | undefined {
  if (apiKey === '') return 'There is no API key: set WEIR_API_KEY, or the option apiKey.';
  // A header value with other characters would make every request throw.
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    return 'The API key contains characters that are not allowed in a header.';
  try {
    new URL(url);
    return undefined;
  } catch {
    return `The address is not a URL: ${url}.`;
  }
}
