import { TRPCClientError } from '@trpc/client';
import { createContext } from 'react';
import type { confirmationNeeded } from '../../../dashboard-api/trpc/failure.ts';

export interface Confirmation {
  /** @returns whether the user has authenticated again; false when the user cancelled. */
  confirm: () => Promise<boolean>;
  /** The question is above the dialog that needs it, which must stay open. */
  isOpen: boolean;
}

export const ConfirmationContext = createContext<Confirmation>({
  confirm: async () => false,
  isOpen: false,
});

/** Whether the API refused a change because the session authenticated too long ago. */
export function isConfirmationNeeded(error: unknown): boolean {
  const code = 'PRECONDITION_REQUIRED' satisfies typeof confirmationNeeded;
  return error instanceof TRPCClientError && error.data?.code === code;
}
