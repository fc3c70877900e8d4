import { z } from 'zod';
import { hasRole } from '../../../store/accounts/role.ts';
import { views as viewsTable } from '../../../store/db/schema.ts';
import {
  leastOfSpaceViews,
  listViews,
  removeView,
  renameView,
  saveView,
  viewsOfSpaceMax,
  viewsOfUserMax,
} from '../../../store/views.ts';
import { refusal } from '../refusal.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

/** Longest address of a list: what proxies let through. */
const addressCharsMax = 4_000;

const list = z.enum(viewsTable.list.enumValues);
const id = z.guid();
const name = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not have control characters');

/** Escaped as browsers write it, so that every page reads it as it was saved. */
const address = z
  .string()
  .max(addressCharsMax)
  .refine(
    (text) => text === '' || text === `?${new URLSearchParams(text)}`,
    'must be the search part of an address, such as ?state=error&last=7d',
  );

/** Addresses of lists under a name: of the caller, and of the whole space. */
export const views = router({
  /** The caller's views and the space's, by name. */
  list: spaceProcedure('viewer')
    .output(z.array(z.object({ id, list, name: z.string(), address: z.string(), isOfSpace: z.boolean() })))
    .query(({ ctx: { space, user } }) => listViews(space.database, space.spaceId, user.userId)),

  /**
   * Saves a view for the caller, or, with the role member, for the space. It replaces the owner's view of the
   * same list and name. PRECONDITION_FAILED when there are too many.
   */
  save: spaceProcedure('viewer')
    .input(z.object({ list, name, address, isOfSpace: z.boolean().default(false) }))
    .output(z.object({ id }))
    .mutation(async ({ ctx: { admin, actor, role }, input: { isOfSpace, ...view } }) => {
      if (isOfSpace && !hasRole(role, leastOfSpaceViews))
        throw refusal('FORBIDDEN', `isOfSpace: this needs the role ${leastOfSpaceViews} in the space.`);
      const { database, spaceId } = admin;
      const saved = await admin.inTurn(() => saveView(database, spaceId, { view, isOfSpace, actor }));
      if (saved !== undefined) return { id: saved };
      const most = isOfSpace ? `The space has ${viewsOfSpaceMax}` : `You have ${viewsOfUserMax}`;
      throw refusal('PRECONDITION_FAILED', `${most} views, the most possible. Remove one first.`);
    }),

  /**
   * Renames a view of the caller, or, with the role member, of the space. CONFLICT when the name is taken.
   */
  rename: spaceProcedure('viewer')
    .input(z.object({ id, name }))
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor, role }, input }) => {
      const change = { ...input, actor, isOfSpace: hasRole(role, leastOfSpaceViews) };
      const problem = await renameView(admin.database, admin.spaceId, change);
      if (problem === 'taken') throw refusal('CONFLICT', 'name: another view of this list has this name.');
      if (problem === 'no_view') throw noSuchView();
    }),

  /** Removes a view of the caller, or, with the role member, of the space. */
  remove: spaceProcedure('viewer')
    .input(z.object({ id }))
    .output(z.void())
    .mutation(async ({ ctx: { admin, actor, role }, input }) => {
      const change = { ...input, actor, isOfSpace: hasRole(role, leastOfSpaceViews) };
      if (!(await removeView(admin.database, admin.spaceId, change))) throw noSuchView();
    }),
});

function noSuchView() {
  return refusal('NOT_FOUND', 'There is no such view, or it is the space’s and you may not change it.');
}
