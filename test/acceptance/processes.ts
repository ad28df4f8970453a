import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { ENCRYPTION_KEY } from '../support/secrets.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const READY_WITHIN_MS = 60_000;

/** A separate `tradewind serve`, started as an operator does. */
export interface ServeProcess {
  child: ChildProcess;
  /** Undefined for a process without the API. */
  url: string;
  stdout(): string;
  stderr(): string;
  /** Sends the signal and returns the exit code, or the name of the signal that ended the process. */
  end(signal?: NodeJS.Signals): Promise<number | string>;
}

/** Builds if the sources are newer than the build: these tests run what `npm start` runs. */
export function build(): void {
  const { status, stderr } = spawnSync('node', ['scripts/prepare.mjs'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed:\n${stderr}`);
}

export function temporaryFolder(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-acceptance-'));
}

/** Only the given settings apply: those of the caller's shell must not reach the process. */
export function environment(settings: Record<string, string>): NodeJS.ProcessEnv {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('TRADEWIND_') && name !== 'DATABASE_URL'),
  );
  // AI tasks stay as tests create them; tests that want them worked on override this.
  return {
    ...clean,
    TRADEWIND_PORT: '0',
    TRADEWIND_AI_CONCURRENCY: '0',
    // The embedded database makes its own key.
    ...('DATABASE_URL' in settings && { TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY }),
    ...settings,
  };
}

export function runTradewind(args: string[], settings: Record<string, string>) {
  return spawnSync('node', ['dist/src/main.js', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: environment(settings),
  });
}

/** Lets others take over at once what a killed process had in hand, as they would some seconds later. */
export async function takeForDead(pool: pg.Pool, { child }: Pick<ServeProcess, 'child'>): Promise<void> {
  await pool.query(`update workers set beat_at = beat_at - interval '1 minute' where pid = $1`, [child.pid]);
}

/**
 * Starts `tradewind serve` and waits until it is ready. Modules that `node` loads before it may talk to the
 * test; `folder` contains another release.
 */
export async function serve(
  settings: Record<string, string>,
  args: string[] = [],
  nodeArgs: string[] = [],
  folder = ROOT,
): Promise<ServeProcess> {
  const child = spawn('node', [...nodeArgs, 'dist/src/main.js', 'serve', ...args], {
    cwd: folder,
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe', ...(nodeArgs.length > 0 ? ['ipc' as const] : [])],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!/Tradewind (is ready|works)/.test(stdout)) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`Tradewind did not become ready.\n${stdout}\n${stderr}`);
    }
    await sleep(10);
  }
  return {
    child,
    url: /ready at (\S+)/.exec(stdout)?.[1] ?? '',
    stdout: () => stdout,
    stderr: () => stderr,
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}
