import fs from 'node:fs';
import { UsageError } from '../errors.ts';

export interface Connection {
  /** Without a slash at the end. */
  url: string;
  /** Where the address comes from, for messages. */
  source: string;
  /** Empty for a command that needs none. */
  token: string;
}

export interface Given {
  url?: string;
  tokenFile?: string;
  anonymous?: boolean | undefined;
}

const EXAMPLE_URL = 'http://127.0.0.1:8080';

/**
 * Returns where to send requests, and as whom. The token is never part of a command line, which everybody on the machine
 * can read.
 */
export async function connectionOf(
  { url, tokenFile, anonymous }: Given,
  environment: Readonly<Record<string, string | undefined>>,
  readInput: () => Promise<string>,
): Promise<Connection> {
  const { TRADEWIND_URL, TRADEWIND_PORT } = environment;
  const [given, source] =
    url !== undefined
      ? [url, '--url']
      : TRADEWIND_URL
        ? [TRADEWIND_URL, 'TRADEWIND_URL']
        : // With 0, only the server knows which one it is.
          Number(TRADEWIND_PORT) > 0
          ? [`http://127.0.0.1:${TRADEWIND_PORT}`, 'TRADEWIND_PORT']
          : [EXAMPLE_URL, 'the default'];
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new UsageError(`${given} is no address such as ${EXAMPLE_URL}`);
  const { username, password, search, hash } = new URL(given);
  // The message doesn't contain them.
  if (username || password || search || hash)
    throw new UsageError(`The address of the server must be like ${EXAMPLE_URL}: without a user, a password, ? or #`);
  return {
    url: given.endsWith('/') ? given.slice(0, -1) : given,
    source,
    token: anonymous ? '' : await tokenOf(tokenFile, environment, readInput),
  };
}

async function tokenOf(
  tokenFile: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  readInput: () => Promise<string>,
): Promise<string> {
  const inEnvironment = environment.TRADEWIND_TOKEN;
  if (tokenFile === undefined && inEnvironment) return checked(inEnvironment, 'TRADEWIND_TOKEN');
  const file = tokenFile ?? environment.TRADEWIND_TOKEN_FILE;
  if (!file)
    throw new UsageError(
      'No token: put one into TRADEWIND_TOKEN, or name a file with TRADEWIND_TOKEN_FILE or --token-file.\n"tradewind token create", on the machine of the server, makes one.',
    );
  if (file === '-') return checked(await readInput(), 'Standard input');
  return checked(contentsOf(file), file);
}

function contentsOf(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`The token can't be read: ${(error as Error).message}`);
  }
}

/** The message doesn't contain the text, which may be a secret. */
function checked(text: string, source: string): string {
  const token = text.trim();
  if (!/^[\w$.~+/=-]+$/.test(token)) throw new UsageError(`${source} contains no token`);
  return token;
}
