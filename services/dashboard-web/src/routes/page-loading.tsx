import { Loading } from '../ui/states.tsx';

/** A page while its code is being loaded. */
export function PageLoading() {
  return (
    <main className="mx-auto w-full max-w-6xl px-4 pt-5 md:px-6">
      <h1 className="sr-only">Loading</h1>
      <Loading rows={8} />
    </main>
  );
}
