import { useParams } from '@tanstack/react-router';
import { type Me, useMe } from './me.ts';

export type Space = Me['spaces'][number];

/** The space of the page's address. */
export function useSpace(): Space {
  const { spaceId } = useParams({ strict: false });
  const space = useMe().spaces.find(({ id }) => id === spaceId);
  if (space === undefined) throw new Error('a page of a space is shown outside of one');
  return space;
}
