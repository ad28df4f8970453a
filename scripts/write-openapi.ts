// Writes openapi/*.json. Run it after a change of routes or schemas; a test compares.
import fs from 'node:fs';
import path from 'node:path';
import { openApiDocuments } from './openapi-documents.ts';

for (const { file, document, text } of await openApiDocuments()) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  console.log(`${path.relative('.', file)}: ${Object.keys(document.paths).length} paths`);
}
