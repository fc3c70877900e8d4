import { apiKeys } from '../db/schema.ts';
import type { Role } from './role.ts';

/**
 * `ingest` sends events and reads nothing. `annotation` adds notes through the dashboard API, and does
 * nothing else. Read keys read their space through the dashboard API and change nothing.
 */
export type KeyScope = (typeof apiKeys.$inferSelect)['scope'];

export type ReadScope = Exclude<KeyScope, 'ingest' | 'annotation'>;

/** From the least to the most. Each includes those before it. */
export const readScopes = ['statistics', 'events', 'administration'] as const satisfies readonly ReadScope[];

/** The role that a key with the scope `annotation` has for the call that adds notes. */
export const roleOfAnnotation: Role = 'member';

export const keyScopes: readonly KeyScope[] = apiKeys.scope.enumValues;

/** The role whose queries a read key may call. `statistics` is only counts, costs and prices, no event. */
export const roleOfScope: Readonly<Record<ReadScope, Role>> = {
  statistics: 'viewer',
  events: 'viewer',
  administration: 'admin',
};

export function isReadScope(scope: KeyScope): scope is ReadScope {
  return readScopes.some((one) => one === scope);
}
