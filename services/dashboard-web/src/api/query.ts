import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type {
  AnyTRPCMutationProcedure,
  AnyTRPCProcedure,
  AnyTRPCQueryProcedure,
  inferProcedureInput,
  inferProcedureOutput,
} from '@trpc/server';
import { useContext } from 'react';
import type { AppRouter } from '../../../dashboard-api/router.ts';
import { client } from './client.ts';
import { ConfirmationContext, isConfirmationNeeded } from './confirmation.ts';

type Procedures = AppRouter['_def']['record'];

/** All procedures of a kind by path, such as `events.list`. */
type PathsOf<Kind, Group = Procedures> = {
  [Name in keyof Group & string]: Group[Name] extends AnyTRPCProcedure
    ? Group[Name] extends Kind
      ? Name
      : never
    : `${Name}.${PathsOf<Kind, Group[Name]>}`;
}[keyof Group & string];

type ProcedureAt<Path extends string, Group = Procedures> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends keyof Group
    ? ProcedureAt<Rest, Group[Head]>
    : never
  : Path extends keyof Group
    ? Group[Path]
    : never;

export type QueryPath = PathsOf<AnyTRPCQueryProcedure>;
export type MutationPath = PathsOf<AnyTRPCMutationProcedure>;

type Callable<Path extends string> =
  ProcedureAt<Path> extends infer Found extends AnyTRPCProcedure ? Found : never;

export type Input<Path extends string> = inferProcedureInput<Callable<Path>>;
export type Output<Path extends string> = inferProcedureOutput<Callable<Path>>;

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

/** A mutation that asks for a needed authentication and then calls again. Reloads queries on success. */
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
