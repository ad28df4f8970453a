import { expect, it } from 'vitest';
import { typeProblems } from './service.ts';

it.each([
  '*',
  'tradewind.*',
  'tradewind.cluster.*',
  'tradewind.cluster.updated',
  'tradewind.task.progressed',
  'tradewind.webhook.disabled',
  'tradewind.webhook.test',
  'tradewind.catalog.applied',
])('events have types %s', (type) => {
  expect(typeProblems([type])).toEqual([]);
});

it.each([
  ['tradewind.clusters.*', 'Did you mean tradewind.cluster.*?'],
  ['tradewind.cluster.update', 'Did you mean tradewind.cluster.updated?'],
  ['tradewind.task.failure', 'Did you mean tradewind.task.failed?'],
  ['tradewind.weather.rained', 'docs/reference/event-types.md lists the types.'],
])('no event has a type %s', (type, hint) => {
  expect(typeProblems(['*', type])).toEqual([{ field: 'types.1', message: `No event has a type ${type}. ${hint}` }]);
});
