import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dataKeyIdOf, openWith, sealWith } from './sealed.ts';

const key = { id: 3, bytes: randomBytes(32) };
const row = ['machine', '0D1C7D0A-4f7c-4a0e-8a51-3f0f5f6c9f10', 'password'];
const PLACE = 'want_secrets.value';

describe('a sealed value', () => {
  it('shows nothing but the data key, and opens in its row', () => {
    const sealed = sealWith(key, PLACE, row, 'pass phrase');
    expect(sealed).toMatch(/^sealed:1:3:[\w-]+$/);
    expect(dataKeyIdOf(sealed)).toBe(3);
    expect(
      openWith(
        key,
        PLACE,
        row.map((part) => part.toLowerCase()),
        sealed,
      ),
    ).toBe('pass phrase');
  });

  it('of an earlier release opens', () => {
    const kept = 'sealed:1:3:z9JWgrXq_cla6oH8WUL-HTMeN8Kjfk_UCvtitqI-VfvPPwoMGno9';
    expect(openWith({ id: 3, bytes: Buffer.alloc(32, 7) }, PLACE, row, kept)).toBe('pass phrase');
  });

  it('is another one each time', () => {
    expect(sealWith(key, PLACE, row, 'same')).not.toBe(sealWith(key, PLACE, row, 'same'));
  });

  it('of a column with JSON is a text in it', () => {
    const jwk = { kty: 'EC', d: 'secret' };
    const written = sealWith(key, 'signing_keys.jwk', ['1'], jwk);
    expect(openWith(key, 'signing_keys.jwk', ['1'], JSON.parse(written))).toEqual(jwk);
  });

  it.each<[string, () => unknown]>([
    ['in another row', () => openWith(key, PLACE, [...row.slice(0, 2), 'user_data'], sealed())],
    ['in another column', () => openWith(key, 'kubernetes_credentials.ca_key', row, sealed())],
    ['with another key', () => openWith({ id: 3, bytes: randomBytes(32) }, PLACE, row, sealed())],
    ['once it is changed', () => openWith(key, PLACE, row, `${sealed().slice(0, -4)}AAAA`)],
    ['once it is cut', () => openWith(key, PLACE, row, sealed().slice(0, -4))],
    ['without its tag', () => openWith(key, PLACE, row, 'sealed:1:3:AAAA')],
  ])('does not open %s', (_where, open) => {
    expect(open).toThrow('was not encrypted for it with data key 3');
  });

  const sealed = () => sealWith(key, PLACE, row, 'a longer pass phrase');
});

it('stays readable without a key', () => {
  expect(sealWith(undefined, PLACE, row, 'plain')).toBe('plain');
  expect(sealWith(undefined, 'signing_keys.jwk', ['1'], { d: 1 })).toBe('{"d":1}');
  expect([dataKeyIdOf('plain'), dataKeyIdOf({ d: 1 }), dataKeyIdOf(null)]).toEqual([undefined, undefined, undefined]);
});
