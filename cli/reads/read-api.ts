import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { Command } from 'commander';
import { readConnection } from '../../launcher/local-system.ts';
import { codeOf, messageOf } from '../../platform/thrown.ts';
import type { AppRouter } from '../../services/dashboard-api/router.ts';
import { parseApiKey, parseHttpUrl } from '../arguments.ts';
import { CommandError, type Host } from '../host.ts';

type Inputs = inferRouterInputs<AppRouter>;
type Outputs = inferRouterOutputs<AppRouter>;

export interface ReadOptions {
  url?: string;
  key?: string;
}

export class ApiError extends CommandError {
  /** The HTTP status; null without an answer. */
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.status = status;
  }
}

export interface ReadApi {
  /** @throws ApiError with the message of the API, or when it cannot be reached. */
  query<Room extends keyof Outputs, Name extends string & keyof Outputs[Room]>(
    room: Room,
    name: Name,
    input: Name extends keyof Inputs[Room] ? Inputs[Room][Name] : never,
  ): Promise<Outputs[Room][Name]>;
  /** Sends a GET request, for live streams and downloads. @throws ApiError as above. */
  open(path: string, headers?: Record<string, string>): Promise<Response>;
}

export function addReadOptions(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'the address of the dashboard (default: WEIR_DASHBOARD_URL, or the one of `weir start`)',
      parseHttpUrl,
    )
    .option(
      '--key <key>',
      'a read key (default: WEIR_READ_KEY); `weir key create --read` creates one',
      parseApiKey,
    );
}

/** @throws CommandError without an address or a key. */
export function openReadApi({ env }: Host, options: ReadOptions): ReadApi {
  const url =
    options.url ?? (env.WEIR_DASHBOARD_URL || readConnection(env.WEIR_DATA_DIR || '.weir')?.dashboardUrl);
  const key = options.key ?? env.WEIR_READ_KEY;
  if (url === undefined) {
    const hint = env.WEIR_URL ? ' WEIR_URL is the address that events are sent to.' : '';
    throw new CommandError(`Set WEIR_DASHBOARD_URL to the address of the dashboard, or give --url.${hint}`);
  }
  if (!key)
    throw new CommandError(
      'Set WEIR_READ_KEY to a read key, or give --key. `weir key create --read` creates one.',
    );
  const send = (path: string, init: RequestInit) =>
    request(new URL(path, url), { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } });
  return {
    open: (path, headers = {}) => send(path, { headers }),
    async query(room, name, input) {
      const body = JSON.stringify(input);
      const headers = { 'content-type': 'application/json' };
      const response = await send(`/trpc/${String(room)}.${name}`, { method: 'POST', headers, body });
      // The API validates its outputs against the types of its router.
      return ((await response.json()) as { result: { data: never } }).result.data;
    },
  };
}

async function request(url: URL, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new ApiError(`${url.origin} does not answer (${codeOf(error) ?? messageOf(error)}).`, null);
  });
  if (response.ok) return response;
  throw new ApiError(await readFailure(url, response), response.status);
}

/** The message of a failed call or download (plain text). Ingest's errors have `details` instead. */
async function readFailure(url: URL, response: Response): Promise<string> {
  const text = (await response.text()).trim();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  // The API answers browsers that have no session.
  if (response.status === 401 && isJson)
    return 'The read key is unknown, was revoked, or has expired: set WEIR_READ_KEY, or give --key. (401)';
  const body = isJson ? (JSON.parse(text) as { error?: { message?: string; details?: string } }) : undefined;
  const { message, details } = body === undefined ? { message: text } : (body.error ?? {});
  if (details !== undefined) {
    return `${url.origin} is not a dashboard: ${details} Set WEIR_DASHBOARD_URL, or --url. (${response.status})`;
  }
  const notOurs = `${url.origin} answers, but not as a dashboard of Weir. Set WEIR_DASHBOARD_URL, or --url.`;
  return `${message ?? notOurs} (${response.status})`;
}
