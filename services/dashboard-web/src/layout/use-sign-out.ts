import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useApiMutation } from '../api/query.ts';
import { useToast } from '../ui/toasts.tsx';

/** Signs out and clears all loaded data, so that the next user of this browser does not see it. */
export function useSignOut(): () => Promise<void> {
  const { mutateAsync } = useApiMutation('auth.signOut');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  return async () => {
    try {
      await mutateAsync();
    } catch {
      toast('Sign-out failed because Weir cannot be reached. You are still signed in.');
      return;
    }
    await navigate({ to: '/sign-in' });
    queries.clear();
  };
}
