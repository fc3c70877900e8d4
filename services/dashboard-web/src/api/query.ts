import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { useContext } from 'react';
import { client } from './client.ts';
import { ConfirmationContext, isConfirmationNeeded } from './confirmation.ts';
import type { Input, MutationPath, Output, QueryPath } from './paths.ts';

/** Options of `useQuery` for a procedure. The call is cancelled when no component uses it any more. */
export function apiQuery<Path extends QueryPath>(path: Path, input: Input<Path>) {
  return queryOptions({
    queryKey: [path, input] as const,
    queryFn: ({ signal }) => callQuery(path, input, signal),
  });
}

export async function callQuery<Path extends QueryPath>(
  path: Path,
  input: Input<Path>,
  signal?: AbortSignal,
): Promise<Output<Path>> {
  return (await client.query(path, input, { signal })) as Output<Path>;
}

export async function callMutation<Path extends MutationPath>(
  path: Path,
  input: Input<Path>,
): Promise<Output<Path>> {
  return (await client.mutation(path, input)) as Output<Path>;
}

/**
 * A mutation. When it needs a recent authentication, the user is asked, and it is called again. On success
 * the queries of the named procedures are reloaded.
 */
export function useApiMutation<Path extends MutationPath>(
  path: Path,
  { reload = [] }: { reload?: readonly QueryPath[] } = {},
) {
  const queries = useQueryClient();
  const { confirm } = useContext(ConfirmationContext);
  return useMutation({
    mutationFn: (input: Input<Path>) =>
      callMutation(path, input).catch(async (error: unknown) => {
        if (isConfirmationNeeded(error) && (await confirm())) return callMutation(path, input);
        throw error;
      }),
    onSuccess: async () => {
      await Promise.all(reload.map((one) => queries.invalidateQueries({ queryKey: [one] })));
    },
  });
}
