import { Link } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { buttonClasses } from '../ui/button.tsx';
import { useTitle } from '../ui/page.tsx';
import { Notice } from '../ui/states.tsx';

/** An address without a page, or of a space that the user is no member of. */
export function PageMissing() {
  useTitle('Not found');
  return (
    <main className="grid min-h-full place-items-center">
      <h1 className="sr-only">Not found</h1>
      <Notice icon={SearchX} title="Page not found">
        <p>The address may be wrong, or belong to a space that you are not a member of.</p>
        <Link to="/" className={`${buttonClasses()} mt-4`}>
          Open your space
        </Link>
      </Notice>
    </main>
  );
}
