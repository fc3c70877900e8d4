import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first, interleaved with those that mostly wait for a time limit. If a slow file started last, it
 * would run alone at the end.
 */
const longest = [
  'test/start/start.test.ts',
  'test/web/accessibility.test.ts',
  'services/dashboard-api/procedures/live.test.ts',
  'test/start/restore.test.ts',
  'test/web/complaints.test.ts',
  'test/http/http2-abuse.test.ts',
  'launcher/backup/backup.test.ts',
  'test/start/processes.test.ts',
  'services/dashboard-api/procedures/inputs.test.ts',
  'test/web/settings.test.ts',
  'test/http/http1-connection.test.ts',
  'services/dashboard-api/late-authority.test.ts',
  'store/retention/expire.test.ts',
  'test/otlp/durability.test.ts',
  'test/web/journeys.test.ts',
  'services/ingest/worker/readers.test.ts',
  'test/durability/crash.test.ts',
  'test/web/recovery.test.ts',
  'platform/queue/cluster.test.ts',
  'test/http/missing-dependencies.test.ts',
  'test/erasure/disk.test.ts',
  'test/web/following.test.ts',
  'services/dashboard-api/access.test.ts',
  'sdk/typescript/test/core/process.test.ts',
  'test/erasure/erasure.test.ts',
  'store/db/many-partitions.test.ts',
  'test/durability/live-tail.test.ts',
  'test/web/confirmation.test.ts',
  'test/durability/replay-window.test.ts',
  'test/erasure/deleted-space.test.ts',
  'harness/chaos/chaos.test.ts',
  'test/durability/retention.test.ts',
  'test/privacy/database-roles.test.ts',
  'services/dashboard-api/installation/installation.test.ts',
  'test/web/thread.test.ts',
  'test/http/http2-hardening.test.ts',
  'test/durability/many-processes.test.ts',
  'test/durability/drain.test.ts',
  'test/durability/bodies-intact.test.ts',
  'services/ingest/worker/span-readers.test.ts',
  'test/http/tls.test.ts',
  'test/web/observe.test.ts',
  'test/web/actions.test.ts',
  'services/dashboard-api/openapi/document.test.ts',
  'services/dashboard-api/downloads/export.test.ts',
  'launcher/provision/postgres/postgres.test.ts',
  'launcher/provision/web/web-build.test.ts',
  'test/otlp/own-spans.test.ts',
  'test/contract/heaviest-batch.test.ts',
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
