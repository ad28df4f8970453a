// Writes openapi/*.json, the pages of docs/reference but the measured one, and what the command line knows of operations. Run it
// after a change of routes, schemas or settings; a test compares them.
import fs from 'node:fs';
import path from 'node:path';
import { cliOperations } from './cli-operations.ts';
import { COMMANDS_FILE, commandsPage } from './commands-page.ts';
import { COMPATIBILITY_FILE, compatibilityDocument } from './compatibility/document.ts';
import { EVENTS_FILE, eventsDocument, eventTypes, KNOWN_TYPES_FILE, knownTypes } from './event-types.ts';
import { MAILS_FILE, mailsPage } from './mails-page.ts';
import { METRICS_FILE, metricsPage } from './metrics-page.ts';
import { openApiDocuments } from './openapi-documents.ts';
import { SETTINGS_FILE, settingsPage } from './settings-page.ts';

const files = await openApiDocuments();
for (const { file, document, text } of files) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  console.log(`${path.relative('.', file)}: ${Object.keys(document.paths).length} paths`);
}

const [, client] = files;
if (client) fs.writeFileSync(COMPATIBILITY_FILE, compatibilityDocument(client.document));

const causing = eventTypes(files.map(({ document }) => document));
fs.writeFileSync(EVENTS_FILE, eventsDocument(causing));
fs.writeFileSync(KNOWN_TYPES_FILE, knownTypes(causing));

fs.writeFileSync(SETTINGS_FILE, settingsPage());
fs.writeFileSync(MAILS_FILE, mailsPage());
fs.writeFileSync(METRICS_FILE, await metricsPage());

const [specification] = files;
if (specification) {
  for (const { file, text } of cliOperations(specification.document)) fs.writeFileSync(file, text);
  fs.writeFileSync(COMMANDS_FILE, commandsPage(specification.document));
}
