import type { Output } from '../../api/query.ts';
import { formatAgo } from '../../format/time.ts';

export type ApiKey = Output<'apiKeys.list'>[number];

/** Several keys may have one name; after a roll two have. */
export function nameKey({ name, lastFour }: ApiKey): string {
  return `${name} …${lastFour}`;
}

/** The time of the last use is written with a delay; until then the day is known from the stored events. */
export function nameLastUse({ lastUsedAt, days }: Pick<ApiKey, 'lastUsedAt' | 'days'>): string {
  if (lastUsedAt !== null) return formatAgo(Date.parse(lastUsedAt), Date.now());
  return days?.findLast(({ events }) => events > 0)?.day ?? (days === null ? 'unknown' : 'never');
}
