import fs from 'node:fs';
import { expect, it } from 'vitest';
import { EVENTS_FILE, eventsDocument, eventTypes, KNOWN_TYPES_FILE, knownTypes } from '../../scripts/event-types.ts';
import { openApiDocuments } from '../../scripts/openapi-documents.ts';

const causing = eventTypes((await openApiDocuments()).map(({ document }) => document));

/** Operations that never change anything, with the reason. */
const TELLS_NOTHING: Record<string, string> = {
  subscribeToUserActionsByAmqp: 'is always refused',
  unsubscribeFromUserActionsByAmqp: 'does nothing',
  updateAmqpSubscription: 'is always refused',
};

it('has a type of event for every operation that changes something', () => {
  const without = causing.filter(({ types }) => types.length === 0);
  expect(without.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(TELLS_NOTHING));
  expect(causing.length).toBeGreaterThan(200);
});

it('has well-formed types', () => {
  for (const { types } of causing) for (const type of types) expect(type).toMatch(/^tradewind\.[a-z0-9_]+\.[a-z_]+$/);
});

it('lists them in the document; "npm run openapi" writes it', () => {
  const text = fs.readFileSync(EVENTS_FILE, 'utf8');
  expect(text).toBe(eventsDocument(causing));
  expect(text).toContain('| `tradewind.cluster.updated` | updateKubernetesCluster');
  expect(text).toContain('| `tradewind.task.progressed` | the work on a task |');
  expect(fs.readFileSync(KNOWN_TYPES_FILE, 'utf8')).toBe(knownTypes(causing));
});
