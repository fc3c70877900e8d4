/** Whether a value nests objects and arrays more than `levels` deep. Recursion is bounded by `levels`. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((element) => isDeeperThan(element, levels - 1));
  // Object.values would allocate an array for each of the thousands of objects of a batch.
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (typeof member === 'object' && member !== null && isDeeperThan(member, levels - 1)) return true;
  }
  return false;
}
