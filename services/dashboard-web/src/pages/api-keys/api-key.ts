import type { Output } from '../../api/query.ts';

export type ApiKey = Output<'apiKeys.list'>[number];
