import { useNavigate, useParams } from '@tanstack/react-router';
import { withCondition } from './conditions.ts';
import type { Condition } from './fields.ts';
import { useFilter } from './use-filter.ts';

/** Pages whose list a condition is added to. On other pages it opens the list of events. */
const filtered = /\/(events|live)$/;

/** Shows only the events with a value, or all others. */
export function useFilterBy(): (condition: Condition) => void {
  const { add } = useFilter();
  const navigate = useNavigate();
  const { spaceId = '' } = useParams({ strict: false });
  return (condition) => {
    if (filtered.test(location.pathname)) return add(condition);
    void navigate({ to: '/s/$spaceId/events', params: { spaceId }, search: withCondition({}, condition) });
  };
}
