import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where a server is, and the token of its administrator. */
export interface Address {
  url: string;
  token: string;
}

interface Running extends Address {
  stop?: () => Promise<void>;
}

/** Returns the server that the environment names, by our variables or by those of the official SDK. */
export function namedServer(env = process.env): Running | undefined {
  const url = env.TRADEWIND_URL ?? env.GCORE_BASE_URL?.replace(/\/gcore\/?$/, '');
  if (url === undefined) return undefined;
  return { url: url.replace(/\/$/, ''), token: env.TRADEWIND_TOKEN ?? env.GCORE_API_KEY ?? '' };
}

/** Starts one with an empty database, which goes when it stops. TRADEWIND_COMMAND says how, "npx tradewind" by default. */
export async function startServer(): Promise<Running> {
  // Its database would be emptied by each reset.
  const { TRADEWIND_COMMAND: command = 'npx --yes tradewind', DATABASE_URL: _, ...env } = process.env;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-'));
  const token = `1_${randomBytes(32).toString('hex')}`;
  const child = spawn(`exec ${command} serve`, {
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      TRADEWIND_SIMULATION_SPEED: '1000',
      TRADEWIND_RATE_LIMIT: '0',
      TRADEWIND_AI_CONCURRENCY: '0',
      ...env,
      TRADEWIND_TEST_API: 'true',
      TRADEWIND_PORT: '0',
      TRADEWIND_DATA_DIR: path.join(folder, 'data'),
      TRADEWIND_BOOTSTRAP_TOKEN: token,
    },
  });
  const ended = once(child, 'exit');
  async function stop(): Promise<void> {
    child.kill();
    await ended;
    // npx ends before what it has started.
    while (fs.existsSync(path.join(folder, 'data/postgres/postmaster.pid'))) await sleep(50);
    fs.rmSync(folder, { recursive: true, force: true });
  }
  try {
    return { url: await addressOf(child, command), token, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function addressOf(child: ChildProcess, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const hear = (chunk: Buffer) => {
      said += chunk;
      const [, url] = /Tradewind is ready at (\S+)/.exec(said) ?? [];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`"${command} serve" ended:\n${said}`)));
  });
}
