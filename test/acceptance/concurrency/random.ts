/** Random choices that are the same for the same seed. */
export interface Random {
  /** Returns a number from `from` to `to`, including both. */
  whole(from: number, to: number): number;
  chance(probability: number): boolean;
  /** Returns undefined for an empty list. */
  pick<T>(list: readonly T[]): T | undefined;
  one<T>(list: readonly [T, ...T[]]): T;
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)];
  return {
    whole: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    pick,
    one: (list) => pick(list) ?? list[0],
  };
}
