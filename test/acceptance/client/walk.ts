import type { Client } from './client.ts';
import type { StatusError } from './transport.ts';

/** What each family of the walk is given. */
export interface Walk {
  client: Client;
  /** The same, but takes the first refusal for the answer. */
  impatient: Client;
  /** The same, as somebody else. */
  as(token: string, word?: 'APIKey' | 'Bearer'): Client;
  /** `/cloud/v1/networks` in the project and region of the walk. */
  place(area: string): string;
}

export const tags = (given: Record<string, string>) =>
  Object.entries(given).map(([key, value]) => ({ key, value, read_only: false }));

/** What a refusal is thrown as, for `rejects.toMatchObject`. */
export const refusal = (status: number): Partial<StatusError> => ({ name: 'StatusError', status });
