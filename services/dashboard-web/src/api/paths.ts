import type {
  AnyTRPCMutationProcedure,
  AnyTRPCProcedure,
  AnyTRPCQueryProcedure,
  inferProcedureInput,
  inferProcedureOutput,
} from '@trpc/server';
import type { AppRouter } from '../../../dashboard-api/router.ts';

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
