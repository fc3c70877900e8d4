import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first, interleaved with those that mostly wait for a time limit. If a slow file started last, it
 * would run alone at the end.
 */
const longest = [
  'test/start/start.test.ts',
  'launcher/provision/web/web-build.test.ts',
  'test/start/restore.test.ts',
  'test/start/processes.test.ts',
  'launcher/backup/backup.test.ts',
  'test/web/accessibility.test.ts',
  'services/dashboard-api/procedures/live.test.ts',
  'services/ingest/worker/readers.test.ts',
  'test/web/complaints.test.ts',
  'services/dashboard-api/procedures/inputs.test.ts',
  'services/dashboard-api/accounts/read-keys.test.ts',
  'test/http/http2-abuse.test.ts',
  'test/erasure/erasure.test.ts',
  'test/otlp/traces.test.ts',
  'test/http/http1-connection.test.ts',
  'sdk/typescript/test/core/process.test.ts',
  'lib/queue/cluster.test.ts',
  'harness/fuzz/bodies.test.ts',
  'test/erasure/disk.test.ts',
  'test/web/journeys.test.ts',
  'harness/chaos/chaos.test.ts',
  'lib/db/many-partitions.test.ts',
  'test/web/recovery.test.ts',
  'services/dashboard-api/installation/installation.test.ts',
  'test/durability/live-tail.test.ts',
  'test/erasure/deleted-space.test.ts',
  'test/contract/heaviest-batch.test.ts',
  'lib/retention/expire.test.ts',
  'test/http/http2-hardening.test.ts',
  'test/web/settings.test.ts',
  'test/durability/drain.test.ts',
  'test/durability/crash.test.ts',
  'test/durability/replay-window.test.ts',
  'lib/tail/stored-events.test.ts',
  'launcher/provision/postgres/postgres.test.ts',
  'test/durability/bodies-intact.test.ts',
  'test/web/following.test.ts',
  'lib/read/event-page.test.ts',
  'lib/client/event-file.test.ts',
  'test/rpc/rpc-properties.test.ts',
  'services/dashboard-api/main.test.ts',
];

/** Runs the slowest files first, and the others by size, as vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId, project }: TestSpecification) => {
      const rank = longest.indexOf(relative(project.config.root, moduleId));
      return rank === -1 ? longest.length : rank;
    };
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
