import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { makeTokenOnce } from '../iam/accounts/first-account.ts';
import type { Clock } from '../lib/clock.ts';

/** The first token: to be shown, kept in a file, or not made since it could be neither. */
export type FirstToken = { text: string } | { file: string } | { problem: string };

/**
 * Where it is when there is no terminal to show it on: what is printed elsewhere is kept by logs. Each database has a file
 * of its own, as it has a token of its own.
 */
export function firstTokenFile({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): string {
  if (databaseUrl === undefined) return path.join(dataDir, 'first-token');
  const { host, pathname } = new URL(databaseUrl);
  return path.join(dataDir, `first-token-${host}${pathname}`.replaceAll(/[^\w.-]/g, '-').slice(0, 200));
}

/** Makes the first token of an account that has none, for the person at the terminal or else for the owner of the folder. */
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
    // What is in it was never committed.
    if (written) fs.rmSync(file, { force: true });
    throw error;
  }
}

class NotKeptError extends Error {}

/** Into a file that is this user's alone from its first moment on, whatever lay there before. */
function writePrivately(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  fs.rmSync(file, { force: true });
  fs.writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
}
