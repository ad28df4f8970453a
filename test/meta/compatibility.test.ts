import fs from 'node:fs';
import { expect, it } from 'vitest';
import { COMPATIBILITY_FILE, compatibilityDocument, missingOperations } from '../../scripts/compatibility/document.ts';
import { familiesNotServed } from '../../scripts/compatibility/not-served.ts';
import { openApiDocuments } from '../../scripts/openapi-documents.ts';

const [, client] = await openApiDocuments();

it('serves every operation of the published contract', () => {
  expect(client && missingOperations(client.document)).toEqual([]);
});

it('finds what is not served by path, and nothing that is', () => {
  const everything = familiesNotServed([], () => false);
  const calls = everything.flatMap(({ missing }) => missing);
  expect(calls.length).toBeGreaterThan(600);
  expect(everything.find(({ beginning }) => beginning === '/cloud/v1/volumes')?.missing).toContain(
    'POST /cloud/v1/volumes/{project_id}/{region_id}',
  );
  expect(familiesNotServed([], () => true)).toEqual([]);
  const [, text = ''] = fs.readFileSync(COMPATIBILITY_FILE, 'utf8').split('## Not served');
  expect(text).toContain('`/cdn/resources` | 0 |');
  for (const [url, operations] of Object.entries(client?.document.paths ?? {})) {
    for (const method of Object.keys(operations)) {
      expect(text).not.toContain(`${method.toUpperCase()} ${url.replace('{project_id}/{region_id}', '{p}/{r}')}\``);
    }
  }
});

it('knows which addresses of the tags of instances the contract has', () => {
  const [published = '', beyond = ''] = fs.readFileSync(COMPATIBILITY_FILE, 'utf8').split('## Beyond the contract');
  const one = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}';
  for (const method of ['GET', 'DELETE']) {
    expect(published).toContain(`\`${method} ${one}/metadata/{key}\``);
    expect(beyond).toContain(`\`${method} ${one}/metadata_item\``);
  }
});

it('documents what the routes say; `npm run openapi` writes it anew', () => {
  expect(client && compatibilityDocument(client.document)).toBe(fs.readFileSync(COMPATIBILITY_FILE, 'utf8'));
});
