import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { SECRET_PATTERN } from './schema.ts';
import { isSecret, newSecret, signedHeaders } from './service.ts';

const message = { id: 'c0a1f7d2-3b6e-4d0f-9a57-0f4b3a0e6b9d', body: '{"a":"ü"}', at: new Date() };

describe('a signed message', () => {
  it('is verified by the published library, with each of the secrets', () => {
    const [secret, former, other] = [newSecret(), newSecret(), newSecret()];
    const headers = signedHeaders(message, [secret, former]);
    expect(new Webhook(secret).verify(message.body, headers)).toEqual({ a: 'ü' });
    expect(new Webhook(former).verify(message.body, headers)).toEqual({ a: 'ü' });
    expect(() => new Webhook(other).verify(message.body, headers)).toThrow('No matching signature');
  });

  it.each([
    ['another body', { body: '{"a":"u"}' }, {}],
    ['another ID', {}, { 'webhook-id': 'c0a1f7d2' }],
    ['another time', {}, { 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 2) }],
  ])('is not verified with %s', (_, change, headers) => {
    const secret = newSecret();
    const { body } = { ...message, ...change };
    const sent = { ...signedHeaders(message, [secret]), ...headers };
    expect(() => new Webhook(secret).verify(body, sent)).toThrow('No matching signature');
  });
});

describe('a secret', () => {
  it.each([
    ['is made', newSecret(), true],
    ['has 24 bytes', `whsec_${Buffer.alloc(24, 1).toString('base64')}`, true],
    ['has 64 bytes', `whsec_${Buffer.alloc(64, 1).toString('base64')}`, true],
    ['has 23 bytes', `whsec_${Buffer.alloc(23, 1).toString('base64')}`, false],
    ['has 65 bytes', `whsec_${Buffer.alloc(65, 1).toString('base64')}`, false],
    ['has no prefix', Buffer.alloc(24, 1).toString('base64'), false],
    ['has another alphabet', `whsec_${Buffer.alloc(24, 0xff).toString('base64url')}`, false],
    ['lacks its padding', `whsec_${Buffer.alloc(25, 1).toString('base64').replace(/=+$/, '')}`, false],
  ])('%s', (_, text, good) => {
    expect(isSecret(text) && new RegExp(SECRET_PATTERN).test(text)).toBe(good);
  });
});
