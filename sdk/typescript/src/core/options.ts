import type { Receipt } from '../deliver/receipt.ts';
import type { Mask } from '../event/redact.ts';
import type { DropReport } from '../queue/counters.ts';
import type { SpoolStore } from '../queue/spool-store.ts';
import { readVariable } from '../runtime/platform.ts';
import { platformRuntime, type Runtime } from '../runtime/runtime.ts';
import type { WaitUntil } from '../runtime/serverless.ts';

export interface WeirOptions {
  /** Address of ingest. Default: `WEIR_URL`, or `http://127.0.0.1:8080`. */
  url?: string;
  /** Default: `WEIR_API_KEY`. Without a key the SDK records nothing, and says so once. */
  apiKey?: string;
  /** False turns the SDK off: wrappers pass calls through untouched. Default true. */
  enabled?: boolean;
  /** What `instrumentation.vendor` must be on this Weir. Default `weir`. */
  vendor?: string;
  /** `metadata` leaves out prompts, responses, tool arguments and results, and error messages. Default `full`. */
  content?: 'full' | 'metadata';
  /** Changes each event before it is stored anywhere. If it throws, the event loses all content. */
  mask?: Mask;
  /** Share of traces to keep, 0 to 1. Events with errors are always kept. Default 1. */
  sampleRate?: number;
  /** Where events wait on disk while Weir is away: `fileSpool()` of `@weir/sdk/spool`. */
  spool?: SpoolStore;
  /** On 402: drop events, or hold them in the spool until the quota starts anew. Default `drop`. */
  onQuota?: 'drop' | 'spool';
  /** Told of dropped events, at most every 10 s. */
  onDrop?: (report: DropReport) => void;
  /** Told of each batch that Weir has made durable. */
  onAccepted?: (receipt: Receipt) => void;
  /** Keeps a serverless invocation alive. Default: Vercel's, if there is one. */
  waitUntil?: WaitUntil;
  /** The fetch that carries events to Weir. Default: the global one. */
  fetch?: typeof fetch;
  /** Headers for a proxy before Weir. */
  headers?: Record<string, string>;
  /** Flush when the process runs out of work, and save to the spool when it exits. Default true. */
  flushOnExit?: boolean;
  /** Clock, timers and chance, for tests. */
  runtime?: Runtime;
}

/** The options with what the environment adds. */
export interface Settings extends WeirOptions {
  url: string;
  apiKey: string;
  isEnabled: boolean;
  vendor: string;
  sampleRate: number;
  runtime: Runtime;
}

const defaultUrl = 'http://127.0.0.1:8080';

/** Completes the options. What is wrong with them turns the SDK off and is written to the console once; nothing is thrown. */
export function readSettings(options: WeirOptions): Settings {
  const url = options.url ?? readVariable('WEIR_URL') ?? defaultUrl;
  const apiKey = options.apiKey ?? readVariable('WEIR_API_KEY') ?? '';
  const isWanted = options.enabled ?? readVariable('WEIR_DISABLED') === undefined;
  const fault = isWanted ? findFault(url, apiKey) : undefined;
  if (fault !== undefined) console.warn(`weir: ${fault} Nothing is recorded.`);
  return {
    ...options,
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
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return 'The API key contains characters that no header may have.';
  try {
    new URL(url);
    return undefined;
  } catch {
    return `The address is not a URL: ${url}.`;
  }
}
