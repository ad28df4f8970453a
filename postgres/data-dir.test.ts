import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { SettingError } from '../src/lib/errors.ts';
import { closeDataDir, makeDataDir } from './data-dir.ts';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-data-'));
const NOBODY = 65_534;
let folder: string;
let told: string[];
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(home, 'd'));
  told = [];
});
afterAll(() => fs.rmSync(home, { recursive: true }));

const modeOf = () => fs.statSync(folder).mode & 0o7777;
function open(mode: number, ...names: string[]): void {
  for (const name of names) fs.mkdirSync(path.join(folder, name));
  fs.chmodSync(folder, mode);
  closeDataDir(makeDataDir(folder), (line) => told.push(line));
}

describe('a data folder', () => {
  it.each([[[]], [['lost+found', '.keep']], [['tradewind.lock', 'run']]])(
    'made beforehand with %j in it is closed to other users, which is told once',
    (names) => {
      open(0o2755, ...names);
      expect(modeOf()).toBe(0o2700);
      expect(told).toEqual([expect.stringMatching(/^\/.* was open to other users \(2755\) and is closed/)]);
      open(modeOf());
      expect(told).toHaveLength(1);
    },
  );

  it('that has a database is closed, whatever else is in it', () => {
    fs.mkdirSync(path.join(folder, 'postgres'));
    fs.writeFileSync(path.join(folder, 'postgres', 'PG_VERSION'), '18\n');
    open(0o755, 'backups');
    expect(modeOf()).toBe(0o700);
  });

  it('that belongs to others as well is refused and left as it is, unless its owner has closed it', () => {
    expect(() => open(0o755, 'etc')).toThrow(SettingError);
    expect(() => open(0o755)).toThrow(/open to other users \(0755\) and holds etc, .* Close it yourself \(chmod 700\)/);
    expect(modeOf()).toBe(0o755);
    open(0o700);
  });

  it.runIf(process.getuid?.() === 0)('is closed to the user that root gives the database to', () => {
    fs.chmodSync(home, 0o755);
    const secret = path.join(folder, 'postgres');
    open(0o755, 'postgres.new');
    fs.mkdirSync(secret);
    fs.chownSync(secret, NOBODY, NOBODY);
    const seen = spawnSync('ls', [secret], { uid: NOBODY, gid: NOBODY, encoding: 'utf8' });
    expect(seen.stderr).toContain('Permission denied');
  });
});
