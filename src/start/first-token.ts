import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { Clock } from '../lib/time.ts';
import { makeTokenOnce } from './first-account.ts';

/** The first token: shown, stored in a file, or not made because neither was possible. */
export type FirstToken = { text: string } | { file: string } | { problem: string };

/**
 * Returns the file for the token if there is no terminal to show it on: logs keep whatever is printed
 * elsewhere. Each database has its own file, as it has its own token.
 */
export function firstTokenFile({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): string {
  if (databaseUrl === undefined) return path.join(dataDir, 'first-token');
  const { host, pathname } = new URL(databaseUrl);
  return path.join(dataDir, `first-token-${host}${pathname}`.replaceAll(/[^\w.-]/g, '-').slice(0, 200));
}

/**
 * Makes the first token of an account that has none, for the person at the terminal or else for the folder's
 * owner.
 */
export async function makeFirstToken(deps: {
  database: Database;
  clock: Clock;
  /** See `firstTokenFile`. */
  file: string;
  terminal: boolean;
}): Promise<FirstToken | undefined> {
  const { database, clock, file, terminal } = deps;
  if (terminal) {
    const text = await makeTokenOnce({ database, clock });
    return text === undefined ? undefined : { text };
  }
  let written = false;
  const keep = (token: string) => {
    try {
      writePrivately(file, `${token}\n`);
    } catch (error) {
      throw new NotKeptError(`${file} can't be written (${(error as NodeJS.ErrnoException).code})`);
    }
    written = true;
  };
  try {
    return (await makeTokenOnce({ database, clock, keep })) === undefined ? undefined : { file };
  } catch (error) {
    if (error instanceof NotKeptError) return { problem: error.message };
    // The token in the file was never committed.
    if (written) fs.rmSync(file, { force: true });
    throw error;
  }
}

class NotKeptError extends Error {}

/** Writes a new file that only this user can ever read, whatever was there before. */
function writePrivately(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  fs.rmSync(file, { force: true });
  fs.writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
}
