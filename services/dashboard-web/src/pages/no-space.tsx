import { UserX } from 'lucide-react';
import { useTitle } from '../ui/page.tsx';
import { Notice } from '../ui/states.tsx';

/** A user who is a member of no space. */
export function NoSpacePage() {
  useTitle('No space');
  return (
    <main className="grid min-h-full place-items-center">
      <h1 className="sr-only">No space</h1>
      <Notice icon={UserX} title="You are not a member of any space">
        <p>Ask the owner of a space to invite you, then reload this page.</p>
      </Notice>
    </main>
  );
}
