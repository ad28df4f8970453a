import { expect, test } from 'vitest';
import { upgradeVersions } from '../routes.ts';

const OFFERED = ['v1.31.14', 'v1.32.11', 'v1.32.13', 'v1.33.7', 'v1.33.9', 'v1.34.4', 'v2.32.14'];

test.each([
  ['v1.32.11', ['v1.32.13', 'v1.33.7', 'v1.33.9']],
  ['v1.32.13', ['v1.33.7', 'v1.33.9']],
  ['v1.30.2', ['v1.31.14']],
  ['v1.34.4', []],
])('%s goes to newer patches and the next minor', (version, expected) => {
  expect(upgradeVersions(version, OFFERED)).toEqual(expected);
});
