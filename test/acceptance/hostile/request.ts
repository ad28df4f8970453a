/** A request that costs the server more than its sender, as far as it can. */
export interface HostileRequest {
  what: string;
  query?: string;
  body?: string;
  headers?: Record<string, string>;
}

/** The most that a body may have. */
export const MEBIBYTE = 1_048_576;
/** Values of a body, just below what the server takes at all. */
export const MANY = 9_900;
/** Characters of all heads of a request together, less the usual ones. */
export const HEAD = 15_000;

export function filled<T>(count: number, item: (n: number) => T): T[] {
  return Array.from({ length: Math.floor(count) }, (_, n) => item(n));
}
