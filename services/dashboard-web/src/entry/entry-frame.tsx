import type { ReactNode } from 'react';
import { Logo } from '../ui/logo.tsx';

/** The frame of the pages that need no session. */
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
