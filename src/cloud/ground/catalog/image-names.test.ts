import { expect, test } from 'vitest';
import { sharedImageNames } from './readers.ts';
import type { Image } from './service.ts';

const shared = (...names: string[]) => sharedImageNames(names.map((name) => ({ name }) as Image));

test('names are shared where one is the beginning of another, in any case, or the same', () => {
  expect(shared('ubuntu-gpu', 'Ubuntu', 'debian')).toEqual([['Ubuntu', 'ubuntu-gpu']]);
  expect(shared('debian', 'debian')).toEqual([['debian', 'debian']]);
  expect(shared('ubuntu-24', 'ubuntu-22', 'gpu-ubuntu-22')).toEqual([]);
});
