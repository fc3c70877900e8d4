import type { Fault } from '../fault.ts';
import { bitFlip, bitFlipCluster, tornTail } from './bit-flip.ts';
import { citusWorker } from './citus-worker.ts';
import { clockAhead, clockIngestBehind, clockJump } from './clock.ts';
import {
  clusterCutLeader,
  clusterCutRoutes,
  clusterKillLeader,
  clusterNoMajority,
  clusterPauseLeader,
} from './cluster.ts';
import { noDescriptors } from './descriptors.ts';
import { diskErrorNats, diskErrorPostgres } from './disk-error.ts';
import { diskFullNats, diskFullPostgres } from './disk-full.ts';
import { diskFullSupervisor } from './disk-full-supervisor.ts';
import { killIngest, killNats, killPostgres, killWriter } from './kill.ts';
import { lockEvents } from './lock-events.ts';
import { losePostgresCluster, losePostgresOne } from './lose-postgres.ts';
import { lostCommitReply } from './lost-commit-reply.ts';
import { deadConnections, latency, partition, resetMidFrame, trickle } from './network.ts';
import { pauseIngest, pauseNats, pausePostgres, pauseWriter, pauseWriterPastAckWait } from './pause.ts';
import {
  hoardConnections,
  killBackend,
  readOnlyPostgres,
  restartPostgres,
  terminateBackends,
} from './postgres-connections.ts';
import { postgresDown } from './postgres-down.ts';
import {
  powerCutCluster,
  powerCutClusterUnsynced,
  powerCutNats,
  powerCutNatsUnsynced,
  powerCutPostgres,
  powerCutPostgresUnsynced,
} from './power-cut.ts';
import { quarantine } from './quarantine.ts';
import { quotaEdge } from './quota-edge.ts';
import { repeats } from './repeats.ts';
import { rollingRestart } from './rolling-restart.ts';
import { slowDisk } from './slow-disk.ts';
import { streamFull } from './stream-full.ts';
import { upgrade } from './upgrade.ts';
import { windowFull } from './window-full.ts';

/** Every fault, in the order of the fault matrix. Add a new one here. */
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
  powerCutNats,
  powerCutCluster,
  powerCutNatsUnsynced,
  powerCutClusterUnsynced,
  powerCutPostgres,
  powerCutPostgresUnsynced,
  diskErrorNats,
  diskErrorPostgres,
  slowDisk,
  diskFullNats,
  diskFullPostgres,
  diskFullSupervisor,
  streamFull,
  windowFull,
  partition,
  latency,
  trickle,
  resetMidFrame,
  deadConnections,
  restartPostgres,
  killBackend,
  terminateBackends,
  lostCommitReply,
  lockEvents,
  hoardConnections,
  readOnlyPostgres,
  postgresDown,
  clockJump,
  clockIngestBehind,
  clockAhead,
  bitFlip,
  bitFlipCluster,
  tornTail,
  rollingRestart,
  repeats,
  quotaEdge,
  noDescriptors,
  quarantine,
  clusterKillLeader,
  clusterPauseLeader,
  clusterCutLeader,
  clusterCutRoutes,
  clusterNoMajority,
  upgrade,
  losePostgresOne,
  losePostgresCluster,
  citusWorker,
];
