import type { Config } from '../config.ts';

export const serviceNames = ['ingest', 'writer', 'dashboard-api'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The variables that a service does not start without. `weir start` sets them for its own services. */
export const requiredOf = {
  ingest: ['DATABASE_URL', 'NATS_URL', 'API_KEY_PEPPER'],
  writer: ['DATABASE_URL', 'NATS_URL'],
  'dashboard-api': ['DATABASE_URL', 'API_KEY_PEPPER'],
} as const satisfies Record<ServiceName, readonly (keyof Config)[]>;
