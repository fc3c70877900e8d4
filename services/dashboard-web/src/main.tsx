import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { openQueryClient } from './api/query-client.ts';
import { reloadOnMissingChunk } from './routes/missing-chunk.ts';
import { openRouter } from './routes/router.tsx';
import { Toasts } from './ui/toasts.tsx';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
reloadOnMissingChunk();
const queryClient = openQueryClient();
const router = openRouter(queryClient);

createRoot(root).render(
  <StrictMode>
    {/* The Content-Security-Policy forbids the style elements that Base UI would add. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Toasts>
          <RouterProvider router={router} />
        </Toasts>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
