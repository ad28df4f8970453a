import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parsePublicKey, splitSshStrings, sshString, uint32 } from './public-key.ts';
import { newKeyPair } from './service.ts';

// Created by ssh-keygen, with the fingerprints that `ssh-keygen -l` shows.
const ED25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO5e+e3KC5+ACc/36XdULnkLWcl9rjsgR3y7CgmNM/8X me@ed25519';
const P256 =
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHOwqAGd4Xcx55/HEh/B/nuWe5DVmqpryanAKOYD59QYXL92hDmsHoEurmBa3PxGzo/dZYpWdCEOBP2TaWTL560= me@ecdsa';
const known: [line: string, fingerprint: string][] = [
  [ED25519, 'SHA256:XKhvSgFBeeyT1e80qY09a4P03t8zN46p3DZYGULwp8U'],
  [P256, 'SHA256:pBNCNR+hrNsSFAnHBV3tRP3SbZuyxhW9mQjd4eoE1LE'],
  [
    'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBMyYxP/cqm6no+uTV1FHOnf8Eb300YtOzQ15YcApbig8etF8vWABptQO9no5UVVwYTSYLI7SAJrM5bR+dX+wjzMY8lP7T1hMmItAzLtBKAjYikSa53/AtubUgw4Hd8RfYw==',
    'SHA256:8b5WkNs80HwNqlE3Wue7ZIPc+xsV0sT0D7u4ixnj6mw',
  ],
  [
    'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBACyEPXJpEX3L4AhWjvOHgcwzPtQge2AoOZMmT3PO6lljTpFV14KuY/wt8gYB+ETVaUQj1IySlZgp/7VLuZimJIr4QAf2VhR8XNBMegwYfLFPzbrQXhxu8ERmM0g6iXvME5vhen2OkrMVo02ja89PjdKvaHTXryDr1MAT0YmPWWB0WirgA== me@ecdsa',
    'SHA256:F6XlyW/+UXowo8kaLKOHsZP8ORTWyEQVyDLa2KpHnXk',
  ],
  [
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCjjulc4VoqKMSfqA9vU31/V/XyHDMdZaOxmMkTpcHx0FG9m08aO/JkoQ9GqOr142UNki0jVT4niz/BNxtd3n5rttHyidKGaqBcJWENfDMYSJ+KX+f7cbZsNUgAUPUzb2eJaHMloduJVBwuutzWcE9XZwL8vKL0HHXROJTzcK2pIB9Bzw77+kH3ApDQsPOmFwvCTdxXtGAi9rm9/8hCwuB4NG9C9NFqng66fyPaXGVaYrmKS+l7jFpvNg+VE0qzUZND68uZvus1p8KG0p7gmti8q+xor0iMXhxtjsEQekjN8xB+JbJ1bvh9I66NVP8k60gr/OnIuda7uHuGDSobe59B me and my laptop',
    'SHA256:lrsXMKjg7Ai8FVpb94l1pc3mV3u0ml501VEOmHGrxYo',
  ],
];
const DSA =
  'ssh-dss AAAAB3NzaC1kc3MAAACBAME02YzZk7ruIoupI7HQMwm/fio3hHX9fQaE7hGDGaJ6O1UQVIv/XA8ojavEo0LZnUEVUmdTn4nAdrIvrMyCD9RzGZJmh2oXSN/T9W2jIApM+WBD05Ibv/GkozkpqFsxRfl++DQFtxloepxDdNqZrAY5RvYtON9jzC91yPQrE8T7AAAAFQD3RFk4K2afDcrQZ3mW5smy8p0EfQAAAIBCSzubCDKhEb0GEO4iSRQJNrCTgDSYcT3RjqbCTACsSvlJD9zPQAvhouwSNu0TM+ZugwB8JPEnlStTHvqZo/MH9krlLMKTCATwnIjR/2MrSuPh32AIYD1bi5IN9+6PXonz3QksujLzPT02jXxYhphPA6SdWKKFBJWgwk3Q3t1e3AAAAIEAlMfuEM8a1jJ+I8Y6kiAF2bveHWdf2jK8jHdcXkyKpV/iSeIPgMqDXmPZNtjm7T4qRfrCPakUK59Bn3aPxp1rEt6UT8QRMktPEV+rqXf1aKrtrqUXN4KOwwz6DJm4hfbt/FPhYtBQk8wk0U5yh7nLzrQVk32qdQVg0oLwi9CCiiM=';

/** Returns the line of a key with this content. */
function lineOf(type: string, fields: (Buffer | string)[], outerType = type): string {
  return `${outerType} ${Buffer.concat([type, ...fields].map(sshString)).toString('base64')}`;
}

/** Returns an odd number of so many bits, as an `mpint`. */
function modulusOf(bits: number): Buffer {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 0xff >> (bytes.length * 8 - bits);
  return bits % 8 === 0 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
}

function fieldsOf(line: string): Buffer[] {
  const blob = Buffer.from(line.split(' ')[1] ?? '', 'base64');
  return splitSshStrings(blob)?.slice(1) ?? [];
}

describe('read', () => {
  test.each(known)('%s', (line, fingerprint) => {
    expect(parsePublicKey(`\n ${line}\t\n`)).toEqual({ text: line, fingerprint });
  });

  test('any comment after a tab or blanks', () => {
    const [type, key] = ED25519.split(' ');
    const line = `${type}\t ${key}\tme  and\u00a0my\u0085laptop\x7e`;
    expect(parsePublicKey(line)).toMatchObject({ text: line });
    expect(parsePublicKey(`${type}  ${key}`)).toMatchObject({ text: `${type}  ${key}` });
  });

  test.each([1024, 1025, 16_384])('RSA of %i bits', (bits) => {
    const line = lineOf('ssh-rsa', [Buffer.of(1, 0, 1), modulusOf(bits)]);
    expect(parsePublicKey(line)).toMatchObject({ text: line });
  });

  test('keys on security tokens', () => {
    const [point = ''] = fieldsOf(ED25519);
    const ed25519 = lineOf('sk-ssh-ed25519@openssh.com', [point, 'ssh:']);
    const ecdsa = lineOf('sk-ecdsa-sha2-nistp256@openssh.com', [...fieldsOf(P256), 'ssh:']);
    expect(parsePublicKey(ed25519)).toMatchObject({ text: ed25519 });
    expect(parsePublicKey(ecdsa)).toMatchObject({ text: ecdsa });
  });
});

describe('refused', () => {
  const [e = Buffer.of(), n = Buffer.of()] = fieldsOf(known[4]?.[0] ?? '');
  const [curve = '', point = Buffer.of()] = fieldsOf(P256);
  const offCurve = Buffer.from(point);
  offCurve[64] = (offCurve[64] ?? 0) ^ 1;
  const compressed = Buffer.from(point);
  compressed[0] = 2;
  const content = /^The key is damaged: /;

  test.each<[what: string, line: string, text: RegExp]>([
    ['nothing', '', /start with the key type/],
    ['words', 'not a key', /start with the key type/],
    ['a type alone', 'ssh-ed25519', /start with the key type/],
    ['an option in front', `no-pty ${ED25519}`, /start with the key type/],
    ['DSA', DSA, /start with the key type/],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n', /private key/],
    ['two lines', `${ED25519}\n${ED25519}`, /one line/],
    ['a control character', `${ED25519}\x1b[2J`, /control characters/],
    ['no base64', 'ssh-ed25519 AAAA!C3N me', /base64/],
    ['base64 that was cut', ED25519.slice(0, 60), /base64|damaged/],
    ['a length beyond the end', `ssh-ed25519 ${Buffer.from([0, 0, 0, 99, 1]).toString('base64')}`, /damaged/],
    ['half a length', `ssh-ed25519 ${Buffer.from([0, 0, 0]).toString('base64')}`, /damaged/],
    ['another type inside', lineOf('ssh-ed25519', fieldsOf(ED25519), 'ssh-rsa'), /damaged/],
    ['another type inside, of the same content', lineOf('ssh-dss', fieldsOf(ED25519), 'ssh-ed25519'), /damaged/],
    ['a short Ed25519 key', lineOf('ssh-ed25519', [Buffer.alloc(31, 1)]), /damaged/],
    ['more than the key', lineOf('ssh-ed25519', [...fieldsOf(ED25519), 'more']), /damaged/],
    ['a point off its curve', lineOf('ecdsa-sha2-nistp256', [curve, offCurve]), /damaged/],
    ['another curve', lineOf('ecdsa-sha2-nistp384', fieldsOf(P256)), /damaged/],
    ['a short RSA key', lineOf('ssh-rsa', [e, modulusOf(1023)]), /1024 to 16384 bits, but this one has 1023/],
    ['an even RSA modulus', lineOf('ssh-rsa', [e, Buffer.concat([n.subarray(0, -1), Buffer.of(2)])]), /damaged/],
    ['an RSA exponent of 1', lineOf('ssh-rsa', [Buffer.of(1), n]), /damaged/],
    ['a negative RSA modulus', lineOf('ssh-rsa', [e, n.subarray(1)]), /damaged/],
    ['an even RSA exponent', lineOf('ssh-rsa', [Buffer.of(1, 0, 2), n]), content],
    ['an RSA exponent of 0', lineOf('ssh-rsa', [Buffer.of(0), n]), content],
    ['no RSA exponent', lineOf('ssh-rsa', ['', n]), content],
    ['a needless zero in front of it', lineOf('ssh-rsa', [Buffer.of(0, 1, 0, 1), n]), content],
    ['a negative RSA exponent', lineOf('ssh-rsa', [Buffer.of(0x80, 0, 1), n]), content],
    ['no RSA modulus', lineOf('ssh-rsa', [e]), content],
    ['more than an RSA key', lineOf('ssh-rsa', [e, n, 'more']), content],
    ['no point', lineOf('ssh-ed25519', []), content],
    ['a long Ed25519 key', lineOf('ssh-ed25519', [Buffer.alloc(33, 1)]), content],
    ['no point of a curve', lineOf('ecdsa-sha2-nistp256', [curve]), content],
    ['a compressed point', lineOf('ecdsa-sha2-nistp256', [curve, compressed]), content],
    ['a long point', lineOf('ecdsa-sha2-nistp256', [curve, Buffer.concat([point, Buffer.of(0)])]), content],
    ['the name of another curve', lineOf('ecdsa-sha2-nistp256', ['nistp384', point]), content],
    ['more than a point', lineOf('ecdsa-sha2-nistp256', [curve, point, 'more']), content],
    ['an empty purpose', lineOf('sk-ssh-ed25519@openssh.com', [...fieldsOf(ED25519), '']), content],
    ['nothing but a purpose', lineOf('sk-ssh-ed25519@openssh.com', ['ssh:']), content],
    ['half a length at the end', `${lineOf('ssh-ed25519', fieldsOf(ED25519))}AAAA`, /damaged or not a valid/],
    ['only a length', `ssh-ed25519 ${Buffer.from([0, 0, 0, 11]).toString('base64')}`, /damaged or not a valid/],
    ['two lines with a return', `${ED25519}\r${ED25519}`, /one line/],
    ['a character of deletion', `${ED25519}\x7f`, /control characters/],
    ['a null', `${ED25519}\x00`, /control characters/],
    ['a token key without its purpose', lineOf('sk-ssh-ed25519@openssh.com', fieldsOf(ED25519)), /damaged/],
  ])('%s', (_what, line, text) => {
    expect(parsePublicKey(line)).toMatch(text);
  });
});

describe('a pair that was made', () => {
  test('is one that signs, in the two files of OpenSSH', async () => {
    const pair = await newKeyPair('my laptop');
    expect(parsePublicKey(pair.text)).toEqual({ text: pair.text, fingerprint: pair.fingerprint });
    expect(pair.text).toMatch(/^ssh-ed25519 \S+ my laptop$/);

    const [first, ...lines] = pair.privateKey.trimEnd().split('\n');
    expect([first, lines.pop()]).toEqual(['-----BEGIN OPENSSH PRIVATE KEY-----', '-----END OPENSSH PRIVATE KEY-----']);
    expect(lines.slice(0, -1).every(({ length }) => length === 70)).toBe(true);
    const bytes = Buffer.from(lines.join(''), 'base64');
    expect(bytes.subarray(0, 15).toString()).toBe('openssh-key-v1\0');
    const blob = Buffer.from(pair.text.split(' ')[1] ?? '', 'base64');
    const secret = bytes.subarray(bytes.lastIndexOf(uint32(blob.length)) + 4 + blob.length + 4);
    expect(secret.length % 8).toBe(0);
    const seed = secret.subarray(8 + 4 + 11 + 4 + 32 + 4).subarray(0, 32);
    const x = blob.subarray(-32).toString('base64url');
    const privateKey = createPrivateKey({
      key: { kty: 'OKP', crv: 'Ed25519', d: seed.toString('base64url'), x },
      format: 'jwk',
    });
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const message = Buffer.from('signed');
    expect(verify(null, message, publicKey, sign(null, message, privateKey))).toBe(true);
  });

  test.skipIf(!existsSync('/usr/bin/ssh-keygen'))('is read by ssh-keygen, for every length of name', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'ssh-keys-'));
    try {
      for (const name of ['abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'abcdefgh', 'abcdefghi', 'a b c d e f']) {
        const pair = await newKeyPair(name);
        const file = path.join(folder, name);
        writeFileSync(file, pair.privateKey, { mode: 0o600 });
        const shown = execFileSync('/usr/bin/ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' });
        expect(shown.trimEnd()).toBe(pair.text);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
