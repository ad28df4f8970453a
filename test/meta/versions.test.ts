import { expect, it } from 'vitest';
import { documentedOperations, UNSUPPORTED } from '../support/openapi.ts';

it('lets every resource that can be changed be changed at a version', async () => {
  const operations = await documentedOperations();
  const without = operations
    .filter(({ method, path }) => method === 'PATCH' && path.endsWith('}'))
    .filter(({ operation }) => !UNSUPPORTED.includes(operation.operationId))
    .filter(({ operation }) => !JSON.stringify(operation.parameters).includes('IfMatch'));
  expect(without.map(({ title }) => title)).toEqual([]);
});
