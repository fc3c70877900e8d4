import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countTokens } from './token-counts.ts';

test.each([
  ['cached tokens within the input', [100, 10, 110], { cacheReadTokens: 60 }, {}, [100, 10]],
  [
    'more cached tokens than input: they stand beside it',
    [5, 1],
    { cacheReadTokens: 100_000 },
    {},
    [100_005, 1],
  ],
  [
    'the total tells that they stand beside it',
    [5_000, 100, 5_112],
    { cacheReadTokens: 12 },
    {},
    [5_012, 100],
  ],
  ['so does the sender', [80, 1], { uncachedTokens: 80, cacheReadTokens: 40 }, {}, [120, 1]],
  ['only cached tokens', [undefined, 1], { cacheReadTokens: 40, cacheWriteTokens: 2 }, {}, [42, 1]],
  ['reasoning within the output', [10, 50, 60], {}, { reasoningTokens: 40 }, [10, 50]],
  ['reasoning beside it, by the total', [10, 50, 100], {}, { reasoningTokens: 40 }, [10, 90]],
  ['negative counts, and fractions', [-90_000, 1.4], {}, {}, [0, 1]],
] as const)('%s', (_name, [inputTokens, outputTokens, totalTokens], input, output, expected) => {
  const usage = {
    ...(inputTokens !== undefined && { inputTokens }),
    outputTokens,
    ...(totalTokens !== undefined && { totalTokens }),
    inputTokenDetails: input,
    outputTokenDetails: output,
  };
  const counts = countTokens(usage);
  expect([counts.inputTokens, counts.outputTokens]).toEqual(expected);
});

test.each([
  ['a negative count', { inputTokens: -1 }, true],
  ['more audio than input', { inputTokens: 10, inputTokenDetails: { audioTokens: 11 } }, true],
  [
    'more for an hour than written',
    { inputTokens: 10, inputTokenDetails: { cacheWriteTokens: 2, cacheWriteHourTokens: 3 } },
    true,
  ],
  [
    'more uncached tokens than are left',
    { inputTokens: 10, inputTokenDetails: { uncachedTokens: 9, cacheReadTokens: 2 } },
    true,
  ],
  ['cached tokens beside the input', { inputTokens: 5, inputTokenDetails: { cacheReadTokens: 9 } }, false],
  [
    'parts that are their whole',
    { outputTokens: 5, outputTokenDetails: { reasoningTokens: 2, responseTokens: 3, audioTokens: 5 } },
    false,
  ],
])('%s contradicts itself: %o %s', (_name, usage, expected) => {
  expect(countTokens(usage).isContradictory).toBe(expected);
});

test('whatever is sent, each token is counted once: parts are within their whole', () => {
  const any = fc.option(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()), {
    nil: undefined,
  });
  const counts = fc
    .record({ input: any, read: any, write: any, output: any, reasoning: any, total: any })
    .map(({ input, read, write, output, reasoning, total }) =>
      countTokens(
        JSON.parse(
          JSON.stringify({
            inputTokens: input,
            outputTokens: output,
            totalTokens: total,
            inputTokenDetails: { cacheReadTokens: read, cacheWriteTokens: write },
            outputTokenDetails: { reasoningTokens: reasoning },
          }),
        ),
      ),
    );
  fc.assert(
    fc.property(counts, (counted) => {
      const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = counted;
      expect(inputTokens).toBeGreaterThanOrEqual(cacheReadTokens + cacheWriteTokens);
      expect(outputTokens).toBeGreaterThanOrEqual(counted.reasoningTokens ?? 0);
      const { isContradictory: _isContradictory, parts: _parts, ...counts } = counted;
      for (const count of Object.values(counts))
        expect(Number.isInteger(count ?? 0) && (count ?? 0) >= 0).toBe(true);
    }),
  );
});
