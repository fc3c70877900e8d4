import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { openQueryClient } from './api/query-client.ts';
import { restoreReturnAddress } from './entry/return-address.ts';
import { openRouter } from './routes/router.ts';
import { Toasts } from './ui/toasts.tsx';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
restoreReturnAddress();
const queryClient = openQueryClient();
const router = openRouter(queryClient);

// Until the first page is loaded the placeholders of index.html stay. No top-level await: the page's code imports this chunk, and
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
