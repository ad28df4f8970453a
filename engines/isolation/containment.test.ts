import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, readMessage } from '../job.ts';
import { analyse } from './analysis.ts';
import { findContainment } from './containment.ts';
import { resourceLimits } from './resource-limits.ts';

const CHILD = fileURLToPath(new URL('./fixtures/child.mjs', import.meta.url));
const entry = [process.execPath, CHILD] as const;
const limits = resourceLimits({ timeFactor: 3, memoryBytes: 4e9 });
const isRoot = process.getuid?.() === 0;

let home: string;
beforeAll(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-containment-'));
});
afterAll(() => fs.rmSync(home, { recursive: true }));

const find = (options: Partial<Parameters<typeof findContainment>[0]> = {}) =>
  findContainment({
    ...{ sandbox: { missing: 'there is none' }, optional: true, searchPath: '/usr/bin:/bin', folder: home },
    ...{ limits: limits.child, needs: { programs: ['/usr/bin/env'], reads: [CHILD], entry } },
    ...options,
  });

/** Returns what the child reports about itself. */
async function told(): Promise<{ user: number; cwd: string; environment: Record<string, string> }> {
  const { found } = await find();
  const folder = fs.mkdtempSync(path.join(home, 'task-'));
  const media = path.join(folder, 'media');
  fs.writeFileSync(media, 'write\necho', { mode: 0o600 });
  const program = {
    startIn: (where: string) =>
      found?.start([...entry], where) ?? { command: entry, folder: where, writesToDisk: true },
    environment: {},
    orderOf: (job: object) => ({ job, settings: {} }) as never,
    readMessage,
  };
  const shared = { media, folder, limits: DEFAULT_LIMITS };
  const end = await analyse(
    program,
    { kind: 'transcription', audioLanguage: null, subtitlesLanguage: null, ...shared },
    { signal: new AbortController().signal, hear() {} },
  );
  expect(fs.readdirSync(folder).sort()).toEqual(['left-over', 'media']);
  return JSON.parse(end.type === 'failed' ? end.reason : JSON.stringify(end));
}

test('where a sandbox is a must there is nothing without one', async () => {
  expect(await find({ optional: false })).toEqual({ missing: 'there is none' });
});

describe.skipIf(!isRoot)('without a sandbox, where the server is root', () => {
  test('an analysis runs as nobody, in a folder that is closed to others, and its result comes out', async () => {
    expect((await find()).found?.lacks).toBe('there is none');
    const [one, other] = [await told(), await told()];
    expect(one.user).toBeGreaterThan(0);
    expect(other.user).not.toBe(one.user);
    expect(one.environment).toMatchObject({ HOME: '/proc/self/cwd', TMPDIR: '/proc/self/cwd' });
  });

  test('nothing is analysed where only root can read what it needs', async () => {
    const closed = path.join(home, 'model');
    fs.writeFileSync(closed, 'a model', { mode: 0o600 });
    const { missing } = await find({ needs: { programs: [], reads: [closed] } });
    expect(missing).toMatch(/^there is none\. .*never as root.*model can't be (read|seen) there/);
  });

  test('nor where its own program does not start', async () => {
    const broken = [process.execPath, path.join(home, 'missing.mjs')] as const;
    const { missing } = await find({ needs: { programs: [], reads: [], entry: broken } });
    expect(missing).toContain('Cannot find module');
  });
});

test.skipIf(isRoot)('without a sandbox an analysis runs as the server does', async () => {
  expect((await told()).user).toBe(process.getuid?.());
});
