import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { SettingError } from '../lib/errors.ts';
import { readSecretFile } from '../lib/secret-file.ts';
import { KEY_BYTES } from './sealed.ts';

/** A key of the operator, which encrypts the data keys. It is never stored in the database. */
export interface EncryptionKey {
  /** Distinguishes keys and reveals nothing about them. */
  id: string;
  bytes: Buffer;
}

/** Where the keys are. The first encrypts; the others only decrypt what was encrypted with them. */
export interface EncryptionKeys {
  /** A text for people. */
  place: string;
  /** Undefined for keys in the environment. */
  file: string | undefined;
  /** Reads the keys again. Returns none if there are none. @throws SettingError for keys that can't be used */
  read(): EncryptionKey[];
}

export interface EncryptionKeySettings {
  /** Undefined if the keys are in the file. */
  encryptionKey: string | undefined;
  encryptionKeyFile: string;
  /** Whether an operator named the file, so that it must exist. */
  encryptionKeyFileNamed: boolean;
}

export const KEY_FORM = '32 bytes in base64 or hexadecimal ("openssl rand -base64 32" makes one)';
const BASE64 = /^[A-Za-z0-9+/]{43}=$/;
const HEXADECIMAL = /^[0-9a-fA-F]{64}$/;

/** Parses keys separated by commas or line breaks; undefined if one is invalid. */
export function parseEncryptionKeys(text: string): EncryptionKey[] | undefined {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  if (!words.every((word) => BASE64.test(word) || HEXADECIMAL.test(word))) return undefined;
  const keys = words.map((word) => Buffer.from(word, HEXADECIMAL.test(word) ? 'hex' : 'base64'));
  return keys.length === 0 ? undefined : keys.map((bytes) => ({ id: idOf(bytes), bytes }));
}

export function encryptionKeysOf(settings: EncryptionKeySettings): EncryptionKeys {
  const { encryptionKey: text, encryptionKeyFile: file, encryptionKeyFileNamed: named } = settings;
  if (text !== undefined) {
    return {
      place: 'TRADEWIND_ENCRYPTION_KEY',
      file: undefined,
      read: () => parseEncryptionKeys(text) ?? [],
    };
  }
  return {
    place: file,
    file,
    read() {
      const read = readSecretFile(file);
      if ('problem' in read) {
        if (read.code === 'ENOENT' && !named) return [];
        throw new SettingError(`The encryption key can't be used: ${file} ${read.problem}`);
      }
      const keys = parseEncryptionKeys(read.text);
      if (keys) return keys;
      throw new SettingError(`The encryption key can't be used: each line of ${file} must be ${KEY_FORM}`);
    },
  };
}

/**
 * Puts a new key before those in the file, and on disk before anything relies on it. An existing file keeps its
 * owner and mode, since the processes that read it may run as another user. Only this user can read a new file.
 */
export function addEncryptionKey(file: string): void {
  const there = fs.existsSync(file) ? fs.statSync(file) : undefined;
  const former = there ? fs.readFileSync(file, 'utf8') : '';
  const next = `${file}.new`;
  fs.rmSync(next, { force: true });
  const descriptor = fs.openSync(next, 'wx', 0o600);
  try {
    if (there) leaveTo(there, file, descriptor);
    fs.writeSync(descriptor, `${randomBytes(KEY_BYTES).toString('base64')}\n${former}`);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
  fs.renameSync(next, file);
  const folder = fs.openSync(path.dirname(file), 'r');
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

function leaveTo({ uid, gid, mode }: fs.Stats, file: string, descriptor: number): void {
  const made = fs.fstatSync(descriptor);
  try {
    if (made.uid !== uid || made.gid !== gid) fs.fchownSync(descriptor, uid, gid);
  } catch {
    throw new SettingError(
      `A new encryption key can't be added to ${file}, which belongs to another user or group: run this as that user, or as root`,
    );
  }
  fs.fchmodSync(descriptor, mode & 0o777);
}

function idOf(key: Buffer): string {
  return createHash('sha256').update('tradewind encryption key').update(key).digest('hex').slice(0, 16);
}
