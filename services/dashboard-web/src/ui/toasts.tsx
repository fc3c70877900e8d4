import { Toast } from '@base-ui/react/toast';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { describeFailure } from '../api/failure.ts';
import { IconButton } from './button.tsx';

/** Announced to screen readers. */
export function Toasts({ children }: { children?: ReactNode }) {
  return (
    <Toast.Provider timeout={4_000} limit={3}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 outline-none">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="flex animate-appear items-center gap-2 rounded-lg bg-raised px-3 py-2 text-sm shadow-pop"
    >
      <Toast.Title className="min-w-0 flex-1" />
      <Toast.Close render={<IconButton icon={X} label="Dismiss" />} />
    </Toast.Root>
  ));
}

export function useToast(): (message: string) => void {
  const { add } = Toast.useToastManager();
  return (message) => void add({ title: message });
}

/** A toast says what was done, or why the change failed. */
export function useAttempt(): (change: Promise<unknown>, done?: string) => void {
  const toast = useToast();
  return (change, done) =>
    void change.then(
      () => done !== undefined && toast(done),
      (error: unknown) => toast(describeFailure(error).message),
    );
}
