/** A request that costs the server as much more than its sender as possible. */
export interface HostileRequest {
  what: string;
  query?: string;
  body?: string;
  headers?: Record<string, string>;
}

/** The maximum size of a body. */
export const MEBIBYTE = 1_048_576;
/** Values of a body, just below the server's limit. */
export const MANY = 9_900;
/** Total characters of a request's headers, minus the usual ones. */
export const HEAD = 15_000;

export function filled<T>(count: number, item: (n: number) => T): T[] {
  return Array.from({ length: Math.floor(count) }, (_, n) => item(n));
}
