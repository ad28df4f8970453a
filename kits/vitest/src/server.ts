import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where a server is, and the token of its administrator. */
export interface Address {
  url: string;
  token: string;
}

const STOP_SECONDS = 60;

interface Running extends Address {
  stop?: () => Promise<void>;
}

/** Returns the server that the environment names, by our variables or by those of the official SDK. */
export function namedServer(env = process.env): Running | undefined {
  // Empty counts as not set.
  const url = env.TRADEWIND_URL || env.GCORE_BASE_URL?.replace(/\/gcore\/?$/, '');
  if (!url) return undefined;
  return { url: url.replace(/\/$/, ''), token: env.TRADEWIND_TOKEN || env.GCORE_API_KEY || '' };
}

/**
 * Starts one with an empty database, which goes when it stops. TRADEWIND_COMMAND says how, "npx tradewind" by default, and
 * TRADEWIND_READY_SECONDS how long that may take, 180 by default.
 */
export async function startServer(): Promise<Running> {
  // Its database would be emptied by each reset.
  const {
    TRADEWIND_COMMAND: command = 'npx --yes tradewind',
    TRADEWIND_READY_SECONDS: seconds = '180',
    DATABASE_URL: _,
    ...env
  } = process.env;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-'));
  const token = `1_${randomBytes(32).toString('hex')}`;
  const child = spawn(`exec ${command} serve`, {
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      TRADEWIND_SIMULATION_SPEED: '1000',
      TRADEWIND_RATE_LIMIT: '0',
      TRADEWIND_AI_CONCURRENCY: '0',
      TRADEWIND_DURABILITY: 'relaxed',
      ...env,
      TRADEWIND_TEST_API: 'true',
      TRADEWIND_PORT: '0',
      TRADEWIND_DATA_DIR: path.join(folder, 'data'),
      TRADEWIND_BOOTSTRAP_TOKEN: token,
    },
  });
  let said = '';
  const hear = (chunk: Buffer) => {
    said += chunk;
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  child.on('error', (error) => hear(Buffer.from(String(error))));
  const isOver = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

  async function stop(): Promise<void> {
    child.kill();
    // npx ends before what it has started.
    const lockFile = path.join(folder, 'data/postgres/postmaster.pid');
    for (const begun = performance.now(); !isOver() || fs.existsSync(lockFile); await sleep(50)) {
      if (performance.now() - begun < STOP_SECONDS * 1_000) continue;
      child.kill('SIGKILL');
      throw new Error(`"${command} serve" has not stopped within ${STOP_SECONDS} seconds:\n${said}`);
    }
    fs.rmSync(folder, { recursive: true, force: true });
  }

  async function address(): Promise<string> {
    for (const begun = performance.now(); ; await sleep(50)) {
      // Looked at first, so that all is read of a server that has ended.
      const over = isOver();
      const [, url] = /Tradewind is ready at (\S+)/.exec(said) ?? [];
      if (url !== undefined) return url;
      if (over) throw new Error(`"${command} serve" ended:\n${said}`);
      if (performance.now() - begun > Number(seconds) * 1_000) {
        throw new Error(`"${command} serve" was not ready within ${seconds} seconds:\n${said}`);
      }
    }
  }

  try {
    return { url: await address(), token, stop };
  } catch (error) {
    // The first error says more.
    await stop().catch(() => {});
    throw error;
  }
}
