import { expect, it } from 'vitest';
import type { Walk } from '../client.ts';

export function describeSecrets({ client, place }: Walk): void {
  it('secrets: any other than a certificate with its key', async () => {
    const secret = await client.createAndPoll(
      place('/cloud/v1/secrets'),
      {
        name: 'walk AES key',
        secret_type: 'symmetric',
        payload: Buffer.alloc(32, 'walk').toString('base64'),
        payload_content_encoding: 'base64',
        payload_content_type: 'application/octet-stream',
        algorithm: 'aes',
        bit_length: 256,
      },
      'secrets',
    );
    expect(secret).toMatchObject({ name: 'walk AES key', status: 'ACTIVE', bit_length: 256 });
    expect(secret).not.toHaveProperty('payload');
  });
}
