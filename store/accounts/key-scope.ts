import { apiKeys } from '../db/schema.ts';
import type { Role } from './role.ts';

/**
 * What an API key may do. A key with the scope `ingest` sends events and reads nothing. The others are read
 * keys: they read their space through the dashboard API and change nothing.
 */
export type KeyScope = (typeof apiKeys.$inferSelect)['scope'];

export type ReadScope = Exclude<KeyScope, 'ingest'>;

/** From the least to the most. Each includes those before it. */
export const readScopes = ['statistics', 'events', 'administration'] as const satisfies readonly ReadScope[];

export const keyScopes: readonly KeyScope[] = apiKeys.scope.enumValues;

/**
 * The role whose queries a read key may call. `statistics` is a part of what a viewer reads: the procedures
 * that return counts, costs and prices, but no event.
 */
export const roleOfScope: Readonly<Record<ReadScope, Role>> = {
  statistics: 'viewer',
  events: 'viewer',
  administration: 'admin',
};

export function isReadScope(scope: KeyScope): scope is ReadScope {
  return scope !== 'ingest';
}
