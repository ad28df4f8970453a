import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addEncryptionKey, encryptionKeysOf, parseEncryptionKeys } from './encryption-keys.ts';

const bytes = randomBytes(32);

describe('keys', () => {
  it('are read in base64 and hexadecimal, the same key with the same id', () => {
    const keys = parseEncryptionKeys(`${bytes.toString('base64')},${bytes.toString('hex')}\n`);
    expect(keys?.map((key) => key.bytes.equals(bytes))).toEqual([true, true]);
    expect(new Set(keys?.map(({ id }) => id)).size).toBe(1);
    expect(keys?.[0]?.id).toMatch(/^[0-9a-f]{16}$/);
  });

  // The names hold no key: they are the same in each run.
  it.each([
    ['an empty text', ''],
    ['an empty line', '\n'],
    ['a short word', 'short'],
    ['a word without padding', 'x'.repeat(44)],
    ['a part of a key', bytes.toString('base64').slice(1)],
    ['a key and another word', `${bytes.toString('hex')} short`],
  ])('are not %s', (_what, text) => expect(parseEncryptionKeys(text)).toBeUndefined());
});

describe('a file with keys', () => {
  const folder = () => {
    const made = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-keys-'));
    onTestFinished(() => fs.rmSync(made, { recursive: true }));
    return made;
  };
  const keysIn = (file: string, named = false) =>
    encryptionKeysOf({ encryptionKey: undefined, encryptionKeyFile: file, encryptionKeyFileNamed: named });

  it('gets a new one before the others, and is this user’s alone', () => {
    const file = path.join(folder(), 'encryption-key');
    expect(keysIn(file).read()).toEqual([]);
    addEncryptionKey(file);
    const [first] = keysIn(file).read();
    addEncryptionKey(file);
    const keys = keysIn(file).read();
    expect(keys).toHaveLength(2);
    expect(keys[1]).toEqual(first);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  });

  it('stays open to whom it was open to, whoever adds a key', () => {
    const file = path.join(folder(), 'encryption-key');
    addEncryptionKey(file);
    fs.chmodSync(file, 0o640);
    // Only root may give a file away.
    if (process.getuid?.() === 0) fs.chownSync(file, 65_534, 65_534);
    const { mode, uid, gid } = fs.statSync(file);
    addEncryptionKey(file);
    expect(fs.statSync(file)).toMatchObject({ mode, uid, gid });
  });

  it('has to be there when it is named', () => {
    expect(() => keysIn(path.join(folder(), 'none'), true).read()).toThrow(/none can't be read \(ENOENT\)$/);
  });

  it('is refused while others may read it, and with anything else in it', () => {
    const file = path.join(folder(), 'key');
    fs.writeFileSync(file, `${bytes.toString('base64')}\n`, { mode: 0o644 });
    expect(() => keysIn(file).read()).toThrow('is open to other users (mode 644)');
    fs.writeFileSync(file, 'secret?');
    fs.chmodSync(file, 0o600);
    expect(() => keysIn(file).read()).toThrow(/each line of .* must be 32 bytes/);
    expect(() => keysIn(file).read()).not.toThrow('secret?');
  });
});
