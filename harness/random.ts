/** Pseudo-random values, the same at every run with the same seed. */
export interface Random {
  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** A UUIDv4. */
  uuid(): string;
}

/** mulberry32: small, and good enough for test data. */
export function createRandom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    between,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    uuid: () => {
      const hex = Array.from({ length: 31 }, () => between(0, 15).toString(16)).join('');
      const variant = (8 + between(0, 3)).toString(16);
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-${variant}${hex.slice(15, 18)}-${hex.slice(18, 30)}`;
    },
  };
}
