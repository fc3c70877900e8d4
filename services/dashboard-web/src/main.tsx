import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { describeFailure, isTransient, polled } from './api/failure.ts';
import { restoreReturnAddress } from './entry/return-address.ts';
import { openRouter } from './routes/router.tsx';
import { meQuery } from './space/space.tsx';
import { Toasts } from './ui/toasts.tsx';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
restoreReturnAddress();
const queryClient = openQueryClient();
const router = openRouter(queryClient);

// Until then the placeholders of index.html stay. No top-level await: the page's code imports this chunk, and
// would wait for it.
void router.load().then(() => createRoot(root).render(<App />));

function App() {
  return (
    <StrictMode>
      {/* The Content-Security-Policy forbids the style elements that Base UI would add. */}
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <Toasts>
            <RouterProvider router={router} />
          </Toasts>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>
  );
}

const freshMs = 10_000;
const retriesMax = 2;

function openQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: followRole }),
    defaultOptions: {
      queries: {
        staleTime: freshMs,
        // Lists must not change when the window gets the focus.
        refetchOnWindowFocus: false,
        retry: (failures, error) => failures < retriesMax && isTransient(error),
        ...polled(false),
      },
      mutations: { retry: false },
    },
  });
}

/** What a user no longer gets may have been taken away: the pages follow the role that there is now. */
function followRole(error: unknown): void {
  const { kind } = describeFailure(error);
  if (kind === 'missing' || kind === 'forbidden') void queryClient.invalidateQueries(meQuery);
}
