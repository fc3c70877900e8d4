import type { Output } from '../../api/paths.ts';

export type ApiKey = Output<'apiKeys.list'>[number];
