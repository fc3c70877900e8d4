import { issueApiKey } from '../../../store/accounts/api-keys.ts';
import { createSpace, type SpaceChange } from '../../../store/accounts/spaces.ts';
import type { ReleasedSystem, System } from '../../system/system.ts';

/** A space with an API key. */
export interface Tenant {
  spaceId: string;
  apiKey: string;
}

/** Creates a space with an API key. */
export async function createTenant(
  { database, pepper }: Pick<System, 'database' | 'pepper'>,
  settings: SpaceChange = {},
): Promise<Tenant> {
  const { id: spaceId } = await createSpace(database, 'chaos', settings);
  const { apiKey } = await issueApiKey(database, spaceId, { name: 'chaos', pepper });
  return { spaceId, apiKey };
}

/**
 * The same with the command line of the release that a system started as: the schema is that of the release.
 */
export async function createReleasedTenant({ weir }: Pick<ReleasedSystem, 'weir'>): Promise<Tenant> {
  const { spaceId = '' } = await weir('space', 'create', '--name', 'chaos');
  const { apiKey = '' } = await weir('key', 'create', '--space', spaceId);
  return { spaceId, apiKey };
}
