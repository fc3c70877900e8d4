import type { NatsConnection } from '@nats-io/transport-node';
import { getTableName } from 'drizzle-orm';
import { type ControlStart, readControlState } from '../../store/control/stream.ts';
import type { Database } from '../../store/db/database.ts';
import { erasureRequests } from '../../store/db/schema.ts';
import { vacuumFull } from '../erasure/rewritten-files.ts';
import { requestLostDeletions } from '../erasure-requests/space-deletion.ts';
import { type AppliedRows, applyRows } from './applied-rows.ts';
import { type ErasedAgain, eraseAgain } from './erased-again.ts';

export interface AppliedChanges extends AppliedRows, ErasedAgain {
  /**
   * Lost changes between the start and the first one in the stream, which dropped (`controlBytesMax`) or
   * pruned them; `all` without a stream, or with another one than the backup's. Undefined without a gap.
   */
  readonly gap:
    | { readonly fromSequence: number; readonly throughSequence: number }
    | { readonly until: Date }
    | 'all'
    | undefined;
}

/**
 * Applies the changes of the control stream to a restored database (ADR 32): administrative rows get their
 * last state, and what was erased is erased again. Erased events that the queue still has are then in the
 * ledger, and counted. Call it after `weir migrate`, **before** a writer or a dashboard API starts; ingest
 * may run. Can be repeated, with an earlier start than the state of the database: later changes win.
 * @param database as the owner of the tables, of one connection without a statement time-out.
 * @param start `afterSequence`: of the backup. `time`: some minutes before that to which Postgres was
 * restored.
 * @returns what was applied, and what could not be.
 * @throws a driver's error, or that of nats-server. Nothing may be served then; call it again.
 */
export async function applyControlChanges(
  database: Database,
  connection: NatsConnection,
  start: ControlStart,
  report: (text: string) => void = () => {},
): Promise<AppliedChanges> {
  const gap = await findGap(connection, start);
  const rows = await applyRows(database, connection, start);
  report(`${rows.changes.toLocaleString('en')} changes applied`);
  const erased = await eraseAgain(database, connection, start, report);
  // A request that is deleted again named its user.
  if (rows.tables.includes(getTableName(erasureRequests)))
    await vacuumFull(database, getTableName(erasureRequests));
  await requestLostDeletions(database);
  return { ...rows, ...erased, gap };
}

async function findGap(connection: NatsConnection, start: ControlStart): Promise<AppliedChanges['gap']> {
  const state = await readControlState(connection);
  if (state === undefined) return 'all';
  if ('time' in start) {
    const isCut = state.firstSequence > 1 && state.oldestAt !== undefined;
    return isCut && state.oldestAt > start.time ? { until: state.oldestAt } : undefined;
  }
  const { firstSequence, lastSequence } = state;
  if (lastSequence < start.afterSequence) return 'all';
  if (firstSequence <= start.afterSequence + 1) return undefined;
  return { fromSequence: start.afterSequence + 1, throughSequence: firstSequence - 1 };
}
