import type { ServerResponse } from 'node:http';
import type { Sql } from '../../lib/db/connect.ts';
import { readinessTimeoutMs } from '../../lib/limits.ts';
import { withTimeout } from '../../lib/timeout.ts';

/** `GET /healthz`: the process lives. Nothing else is asked, so that an orchestrator does not restart it for others. */
export function answerLive(response: ServerResponse): void {
  answer(response, 200, 'ok');
}

/** `GET /readyz`: calls can be answered now, because Postgres answers. */
export async function answerReady(sql: Sql, response: ServerResponse): Promise<void> {
  try {
    await withTimeout(readinessTimeoutMs, sql`SELECT 1`);
    answer(response, 200, 'ok');
  } catch {
    answer(response, 503, 'Postgres does not answer');
  }
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' }).end(`${text}\n`);
}
