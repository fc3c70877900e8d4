import {
  createTRPCUntypedClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  retryLink,
  splitLink,
} from '@trpc/client';
import type { AppRouter } from '../../../dashboard-api/router.ts';
import { basePath } from '../url/page-values.ts';
import { isTransient } from './failure.ts';

const url = `${basePath}/trpc`;

/** The server's limit for one request. */
const batchItemsMax = 20;

/** Queries, too: user ids and search texts belong into bodies, since proxies and browsers keep addresses. */
const methodOverride = 'POST';

export const reconnectMs = 2_000;

/** Large or slow calls, which must not delay others of the same request. */
const alonePaths = new Set([
  'auth.signIn',
  'auth.redeemLink',
  'auth.changePassword',
  'auth.confirm',
  'auth.confirmWithPasskey',
  'auth.giveCode',
  'auth.signInWithPasskey',
  'invitations.accept',
  'events.get',
]);

/** Cookies of the same origin carry the session. */
export const client = createTRPCUntypedClient<AppRouter>({
  links: [
    splitLink({
      condition: ({ type }) => type === 'subscription',
      true: [
        // A proxy's 502 closes an EventSource for good; a new one continues after the last id. A refused
        // stream stays closed.
        retryLink({ retry: ({ error }) => isTransient(error), retryDelayMs: () => reconnectMs }),
        httpSubscriptionLink({ url }),
      ],
      false: splitLink({
        condition: ({ path }) => alonePaths.has(path),
        true: httpLink({ url, methodOverride }),
        false: httpBatchLink({ url, methodOverride, maxItems: batchItemsMax }),
      }),
    }),
  ],
});
