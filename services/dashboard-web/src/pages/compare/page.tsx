import { useQuery } from '@tanstack/react-query';
import { eventQuery } from '../../event/event-query.ts';
import { useSpace } from '../../space/space.ts';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { useSearchTexts } from '../../url/use-search.ts';
import { ChooseEvents } from './choose-events.tsx';
import { Comparison } from './comparison.tsx';

/** Two events side by side: `a` and `b` of the address. Without one of them it asks for an id. */
export function ComparePage() {
  const { id: spaceId } = useSpace();
  const { a = '', b = '' } = useSearchTexts();
  const hasBoth = a !== '' && b !== '';
  const before = useQuery({ ...eventQuery(spaceId, a), enabled: hasBoth });
  const after = useQuery({ ...eventQuery(spaceId, b), enabled: hasBoth });
  const error = before.error ?? after.error;
  if (!hasBoth || error !== null) {
    return (
      <Page title="Compare">
        {hasBoth && <FailureNotice error={error} isSmall />}
        <ChooseEvents a={a} b={b} />
      </Page>
    );
  }
  if (before.data === undefined || after.data === undefined) {
    return (
      <Page title="Compare">
        <Loading rows={10} label="Loading the events" />
      </Page>
    );
  }
  return <Comparison before={before.data} after={after.data} />;
}
