/** Parts of a count that have separate prices, and that count. A web search is in no count. */
export const usageParts = {
  audioInput: 'input',
  imageInput: 'input',
  audioCacheRead: 'cacheRead',
  imageCacheRead: 'cacheRead',
  cacheWriteHour: 'cacheWrite',
  cacheWriteHalfDay: 'cacheWrite',
  audioOutput: 'output',
  imageOutput: 'output',
  webSearches: undefined,
} as const satisfies Record<string, 'input' | 'cacheRead' | 'cacheWrite' | 'output' | undefined>;

export type UsagePart = keyof typeof usageParts;
export const usagePartNames = Object.keys(usageParts) as readonly UsagePart[];

/** The parts of a call that are more than none. */
export type UsageParts = Partial<Record<UsagePart, number>>;

/** @param all the parts of some calls. */
export function sumParts(all: readonly UsageParts[] | null): UsageParts | null {
  if (all === null) return null;
  const sums: UsageParts = {};
  for (const parts of all)
    for (const name of usagePartNames)
      if (parts[name] !== undefined) sums[name] = (sums[name] ?? 0) + parts[name];
  return sums;
}
