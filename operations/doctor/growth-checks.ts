import { statfs } from 'node:fs/promises';
import { desc, eq, sum } from 'drizzle-orm';
import { readServerClock } from '../../store/db/clock.ts';
import type { Database } from '../../store/db/database.ts';
import { spaces, usageMonths } from '../../store/db/schema.ts';
import { readStorageSizes } from '../storage/storage-sizes.ts';
import { ok, type Verdict, warning } from './finding.ts';
import { diskDaysMin } from './limits.ts';

/** Days until the disk is full, by what the last whole week stored: no finding in the first week. */
export async function checkDiskDays(database: Database, directory: string): Promise<Verdict | undefined> {
  const nowMs = await readServerClock(database);
  const week = (await readStorageSizes(database, nowMs)).weeks.findLast(({ toMs }) => toMs <= nowMs);
  if (week === undefined) return undefined;
  const bytesADay = (week.eventBytes + week.segmentBytes) / 7;
  const { bavail, bsize } = await statfs(directory);
  const days = Math.floor((bavail * bsize) / Math.max(1, bytesADay));
  const found = `the disk lasts ${days} days at the ${Math.round(bytesADay / 1024 ** 2)} MB a day of last week`;
  if (days >= diskDaysMin) return ok(found);
  return warning(found, 'Set a retention (docs/data-lifecycle.md), or give Postgres a larger disk.');
}

/** Names the space with most events this month. */
export async function checkSpaces(database: Database): Promise<Verdict> {
  const month = new Date(await readServerClock(database)).toISOString().slice(0, 7);
  const thisMonth = eq(usageMonths.month, month);
  const [all] = await database
    .select({ events: sum(usageMonths.events).mapWith(Number) })
    .from(usageMonths)
    .where(thisMonth);
  const [first] = await database
    .select()
    .from(usageMonths)
    .where(thisMonth)
    .orderBy(desc(usageMonths.events))
    .limit(1);
  if (!all?.events || first === undefined) return ok('no event was stored this month');
  const [space] = await database
    .select({ name: spaces.name })
    .from(spaces)
    .where(eq(spaces.id, first.spaceId));
  const share = Math.round((100 * first.events) / all.events);
  return ok(`${space?.name ?? first.spaceId} sent most this month: ${share}% of ${all.events} events`);
}
