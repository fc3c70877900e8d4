import { until } from '../wait.ts';
import { demoEvents } from './demo-events.ts';
import type { BrowserSystem, SpaceVisitor } from './use-browser.ts';

const refusedUser = 'cus_refused';

/**
 * Sends events that Postgres rejects, through ingest and the writer, and waits until they are in quarantine.
 * A constraint simulates a wrong migration.
 *
 * @returns their ids, and a function that removes the constraint.
 */
export async function sendRefusedEvents(
  { pipeline: { sql }, send }: BrowserSystem,
  { apiKey, spaceId }: Pick<SpaceVisitor, 'apiKey' | 'spaceId'>,
  count: number,
): Promise<{ ids: string[]; removeCause: () => Promise<void> }> {
  await sql`ALTER TABLE events DROP CONSTRAINT IF EXISTS known_user`;
  await sql.unsafe(`ALTER TABLE events ADD CONSTRAINT known_user CHECK (user_id <> '${refusedUser}')`);
  const events = demoEvents()
    .slice(0, count)
    .map((event) => ({ ...event, context: { ...event.context, userId: refusedUser } }));
  await send(apiKey, events);
  await until(async () => {
    const [row] = await sql`SELECT count(*)::int AS count FROM quarantine WHERE space_id = ${spaceId}`;
    return row?.count === count;
  });
  return {
    ids: events.map(({ id }) => id),
    removeCause: async () => void (await sql`ALTER TABLE events DROP CONSTRAINT known_user`),
  };
}
