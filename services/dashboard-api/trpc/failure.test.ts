import { TRPCError } from '@trpc/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { chartGroup } from '../charts/dimension.ts';
import { publicMessage } from './failure.ts';

test('a value that may have several shapes is refused with what each of them needs', () => {
  const input = z.object({
    groupBy: chartGroup,
    not: z.array(z.union([z.object({ column: z.enum(['user', 'agent']) }), z.object({ key: z.string() })])),
  });
  const refused = (json: unknown) => {
    try {
      return input.parse(json);
    } catch (cause) {
      return publicMessage(new TRPCError({ code: 'BAD_REQUEST', cause }));
    }
  };
  expect(refused({ groupBy: 'none', not: [{ column: 'model' }] })).toBe(
    'not.0.column: Invalid option: expected one of "user"|"agent", or not.0.key: Invalid input: expected string, received undefined',
  );
  expect(refused({ groupBy: 'attribute', not: [] })).toMatch(
    /^groupBy: Invalid option: expected one of "none".*, or groupBy: must match \^attr\\\..*\$$/,
  );
});
