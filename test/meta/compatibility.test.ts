import fs from 'node:fs';
import { expect, it } from 'vitest';
import {
  COMPATIBILITY_FILE,
  compatibilityDocument,
  missingOperations,
} from '../../scripts/compatibility/document.ts';
import { openApiDocuments } from '../../scripts/openapi-documents.ts';

const [, client] = await openApiDocuments();

it('serves every operation of the published contract', () => {
  expect(client && missingOperations(client.document)).toEqual([]);
});

it('documents what the routes say; `npm run openapi` writes it anew', () => {
  expect(client && compatibilityDocument(client.document)).toBe(fs.readFileSync(COMPATIBILITY_FILE, 'utf8'));
});
