import { expect, it } from 'vitest';
import { UnavailableError } from '../../../lib/errors.ts';
import { certificatesOf, MOST_AT_ONCE } from './pkcs12.ts';

it('has so many files wait at most, and sends the others away', async () => {
  const broken = Buffer.from('no file');
  const all = Array.from({ length: MOST_AT_ONCE + 2 }, () => certificatesOf(broken));
  const answers = await Promise.allSettled(all);
  const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused).toEqual([expect.any(UnavailableError), expect.any(UnavailableError)]);
  expect(await certificatesOf(broken)).toBeUndefined();
});

it('says nothing about a file that takes too long', async () => {
  await expect(certificatesOf(Buffer.from('no file'), 1)).rejects.toThrow(UnavailableError);
});
