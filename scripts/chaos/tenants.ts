import { issueApiKey } from '../../lib/access/api-keys.ts';
import { createSpace, type SpaceChange } from '../../lib/access/spaces.ts';
import type { System } from './system.ts';

/** A space with a key. */
export interface Tenant {
  spaceId: string;
  apiKey: string;
}

/** Makes a space with a key. */
export async function createTenant(
  { database, pepper }: Pick<System, 'database' | 'pepper'>,
  settings: SpaceChange = {},
): Promise<Tenant> {
  const { id: spaceId } = await createSpace(database, 'chaos', settings);
  const { apiKey } = await issueApiKey(database, spaceId, { name: 'chaos', pepper });
  return { spaceId, apiKey };
}
