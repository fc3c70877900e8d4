import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Me, meQuery } from '../space/space.tsx';
import { Logo } from '../ui/logo.tsx';

export function EntryFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="grid min-h-full place-items-center px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-5 flex justify-center text-lg">
          <Logo />
        </div>
        <div className="card p-6">
          <h1 className="mb-1 font-semibold text-xl tracking-tight">{title}</h1>
          {children}
        </div>
      </div>
    </main>
  );
}

/** Opens a page after signing in, and clears all data of a previous user. */
export function useEnter(): (me: Me | undefined, href: string) => Promise<void> {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return async (me, href) => {
    queries.clear();
    if (me !== undefined) queries.setQueryData(meQuery.queryKey, me);
    await navigate({ href });
  };
}
