import type { invariants, scopes } from './scopes.ts';

/** A line of the code without which an invariant does not hold. Without it TLC must find a counterexample. */
export interface Guard {
  /** Its constant in Weir.tla. */
  readonly name: string;
  readonly scope: keyof typeof scopes;
  readonly violates: (typeof invariants)[number];
  /** The file, and a text of the line in it. */
  readonly code: readonly [file: string, text: string];
  /** The file of the test or of the fault, and a text of it. */
  readonly test: readonly [file: string, text: string];
}

/** In the order of the data flow, as in Weir.tla. docs/model/README.md lists them too. */
export const guards: readonly Guard[] = [
  {
    name: 'SyncBeforeAck',
    scope: 'queue',
    violates: 'NothingLost',
    code: ['platform/queue/sync-always.ts', 'sync_interval: always'],
    test: ['harness/chaos/faults/power-cut.ts', 'nats-server with its default sync_interval'],
  },
  {
    name: 'AckAfterCommit',
    scope: 'queue',
    violates: 'NothingLost',
    code: ['services/writer/message-store.ts', 'message.ack();'],
    test: ['harness/chaos/faults/kill.ts', 'kill -9 of'],
  },
  {
    name: 'Ledger',
    scope: 'queue',
    violates: 'BilledOnce',
    code: ['store/write/statement-parts.ts', 'ON CONFLICT DO NOTHING'],
    test: [
      'store/write/store.test.ts',
      'overlapping statements, concurrent and in any order, store and bill each event once',
    ],
  },
  {
    name: 'KeepLedger',
    scope: 'queue',
    violates: 'BilledOnce',
    code: ['store/retention/expired-segments.ts', 'DELETE FROM'],
    test: ['store/retention/expire.test.ts', 'ledger, usage and statistics stay'],
  },
  {
    name: 'OneStatement',
    scope: 'queue',
    violates: 'NothingLost',
    code: ['store/write/statement.ts', 'A statement is its own transaction'],
    test: ['harness/chaos/faults/postgres-connections.ts', 'kill -9 of one of the writer’s backends'],
  },
  {
    name: 'SeparateKnown',
    scope: 'erasure',
    violates: 'ErasedIsGone',
    code: ['store/write/repeats.ts', 'export async function separateKnown'],
    test: ['test/erasure/erasure.test.ts', 'an erased event that is sent again with new ones stores no text'],
  },
  {
    name: 'LockedNumber',
    scope: 'tail',
    violates: 'NothingSkipped',
    code: ['store/write/statement-parts.ts', "The counter's row stays locked until COMMIT"],
    test: [
      'store/tail/stored-events.test.ts',
      'a statement waits for the previous one of the same space, and not for other spaces',
    ],
  },
  {
    name: 'PurgeStoredOnly',
    scope: 'queue',
    violates: 'NothingLost',
    code: ['services/writer/streams/window-purge.ts', 'Math.min(wanted, storedUpTo + 1)'],
    test: ['services/writer/streams/window-purge.test.ts', 'others never go'],
  },
  {
    name: 'Window',
    scope: 'restore',
    violates: 'NoGapWithinWindow',
    code: ['services/writer/streams/window-marks.ts', 'expiredUpTo'],
    test: [
      'services/writer/streams/window-marks.test.ts',
      'messages expire a window after the stream was seen with them',
    ],
  },
  {
    name: 'LoggedClock',
    scope: 'expiry',
    violates: 'ErasedIsGone',
    code: ['store/control/logged-tables.ts', 'logged(schema.retentionClock'],
    test: [
      'operations/control/apply-changes.test.ts',
      'what had expired before a restore expires in the first pass after it',
    ],
  },
  {
    name: 'EraseWaits',
    scope: 'erasure',
    violates: 'ErasedIsGone',
    code: ['operations/erasure/queue-drain.ts', 'export async function untilStored'],
    test: [
      'test/erasure/erasure.test.ts',
      'events accepted before the command are erased, also from the queue',
    ],
  },
  {
    name: 'MarkEveryStream',
    scope: 'erasure',
    violates: 'ErasedIsGone',
    code: ['store/queue-state/watermark.ts', 'export async function readWatermarks'],
    test: ['test/erasure/random-erasures.test.ts', 'after any sequence of sends, stores and erasures'],
  },
  {
    name: 'AnswerAfterControl',
    scope: 'restore',
    violates: 'RevokedStays',
    code: ['store/control/relay.ts', 'export function openAnsweringRelay'],
    test: [
      'operations/control/erased-again.test.ts',
      'the stream has a change of the dashboard when it is answered',
    ],
  },
  {
    name: 'ControlFirst',
    scope: 'restore',
    violates: 'RevokedStays',
    code: ['operations/control/apply-changes.ts', '**before** a writer or a dashboard API'],
    test: [
      'operations/control/erased-again.test.ts',
      'what was erased after the restored time is erased again, never stored again',
    ],
  },
  {
    name: 'FreshWriters',
    scope: 'restore',
    violates: 'NothingLost',
    code: ['launcher/restore/restore.ts', 'await system.stopServices();'],
    test: ['harness/chaos/faults/lose-postgres.ts', 'losePostgres('],
  },
  {
    name: 'ResetConsumer',
    scope: 'restore',
    violates: 'NothingLost',
    code: ['store/queue-state/replay.ts', 'moveConsumer(manager, stream, fromSequence)'],
    test: ['store/queue-state/replay.test.ts', 'a replay begins at what the restored database lacks'],
  },
  {
    name: 'FloorOfDatabase',
    scope: 'restore',
    violates: 'NothingLost',
    code: ['store/queue-state/stored-positions.ts', 'export async function recordStoredPosition'],
    test: [
      'store/queue-state/replay.test.ts',
      'Message 4 was not stored when the position was kept, whatever the time says.',
    ],
  },
  {
    name: 'NewNumbers',
    scope: 'tail',
    violates: 'NothingSkipped',
    code: ['store/tail/skip-numbers.ts', 'export async function skipCommitNumbers'],
    test: ['store/tail/stored-events.test.ts', 'after a restore no commit has a number from before it'],
  },
  {
    name: 'CheckPosition',
    scope: 'tail',
    violates: 'SeenOnce',
    code: ['store/tail/space-commits.ts', 'return isKnown ? listed : undefined;'],
    test: ['store/tail/stored-events.test.ts', 'or from another history, is unknown'],
  },
  {
    name: 'NameGap',
    scope: 'gap',
    violates: 'NothingLost',
    code: ['store/queue-state/replay.ts', 'function findMissing'],
    test: ['store/queue-state/replay.test.ts', 'and names what was purged'],
  },
];
