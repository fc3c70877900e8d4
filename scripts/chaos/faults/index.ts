import type { Fault } from '../fault.ts';
import { killIngest, killNats, killPostgres, killWriter } from './kill.ts';
import { lockEvents } from './lock-events.ts';
import { pauseIngest, pauseNats, pausePostgres, pauseWriter, pauseWriterPastAckWait } from './pause.ts';
import {
  hoardConnections,
  killBackend,
  readOnlyPostgres,
  restartPostgres,
  terminateBackends,
} from './postgres-connections.ts';
import { postgresDown } from './postgres-down.ts';
import { quarantine } from './quarantine.ts';
import { quotaEdge } from './quota-edge.ts';
import { repeats } from './repeats.ts';
import { rollingRestart } from './rolling-restart.ts';
import { streamFull } from './stream-full.ts';

/** Every fault, in the order of the fault matrix. A new one is a file beside this and a line here. */
export const faults: readonly Fault[] = [
  killIngest,
  killWriter,
  killNats,
  killPostgres,
  pauseIngest,
  pauseWriter,
  pauseNats,
  pausePostgres,
  pauseWriterPastAckWait,
  streamFull,
  restartPostgres,
  killBackend,
  terminateBackends,
  lockEvents,
  hoardConnections,
  readOnlyPostgres,
  postgresDown,
  rollingRestart,
  repeats,
  quotaEdge,
  quarantine,
];
