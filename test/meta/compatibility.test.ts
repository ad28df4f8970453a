import fs from 'node:fs';
import { expect, it } from 'vitest';
import {
  COMPATIBILITY_FILE,
  compatibilityDocument,
  missingOperations,
} from '../../scripts/compatibility/document.ts';
import { NOT_SERVED } from '../../scripts/compatibility/not-served.ts';
import { openApiDocuments } from '../../scripts/openapi-documents.ts';

const [, client] = await openApiDocuments();

it('serves every operation of the published contract', () => {
  expect(client && missingOperations(client.document)).toEqual([]);
});

it('serves nothing of the families that it says are not served', () => {
  const known = Object.keys(client?.document.paths ?? {});
  expect(known.length).toBeGreaterThan(100);
  const wrong = NOT_SERVED.flatMap(({ paths }) => paths).filter((path) =>
    known.some((each) => each.startsWith(path)),
  );
  expect(wrong).toEqual([]);
});

it('knows which addresses of the tags of instances the contract has', () => {
  const [published = '', beyond = ''] = fs
    .readFileSync(COMPATIBILITY_FILE, 'utf8')
    .split('## Beyond the contract');
  const one = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}';
  for (const method of ['GET', 'DELETE']) {
    expect(published).toContain(`\`${method} ${one}/metadata/{key}\``);
    expect(beyond).toContain(`\`${method} ${one}/metadata_item\``);
  }
});

it('documents what the routes say; `npm run openapi` writes it anew', () => {
  expect(client && compatibilityDocument(client.document)).toBe(fs.readFileSync(COMPATIBILITY_FILE, 'utf8'));
});
