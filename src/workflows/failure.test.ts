import { expect, test } from 'vitest';
import { NotFoundError } from '../lib/errors.ts';
import { isTransient, reasonFor } from './failure.ts';
import { TaskFailure } from './task-handler.ts';

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });

test.each([
  ['a refused connection', coded('ECONNREFUSED')],
  ['a connection fault below a fetch', new TypeError('fetch failed', { cause: coded('ECONNRESET') })],
  ['a connection fault of each address', new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')])],
  ['a database that shuts down', coded('57P01')],
  ['a connection exception of SQL', coded('08006')],
  ['a database that only reads for now', coded('25006')],
  ['what pg says of a lost connection', new Error('Connection terminated unexpectedly')],
  ['a backend that says so', new TaskFailure('busy', { retryable: true })],
])('%s is transient', (_, error) => {
  expect(isTransient(error)).toBe(true);
});

test.each([
  ['a bug', new TypeError('x is not a function')],
  ['a broken constraint', coded('23505')],
  ['a refusal of the domain', new NotFoundError('Cluster', 'c')],
  ['a final failure with a connection as its cause', new TaskFailure('no', { cause: coded('ECONNRESET') })],
  ['no error at all', 'ECONNREFUSED'],
])('%s is final', (_, error) => {
  expect(isTransient(error)).toBe(false);
});

test('only a text written for people reaches the reader of the task', () => {
  expect(reasonFor(new NotFoundError('Cluster', 'c'), 't')).toBe('Cluster c not found');
  expect(reasonFor(new TaskFailure('The disk is full'), 't', 'copy')).toBe('The disk is full');
  expect(reasonFor(new Error('password=1'), 't', 'copy')).not.toContain('password');
  expect(reasonFor(coded('ECONNREFUSED', '10.0.0.1'), 't', 'copy')).toBe(
    'Step "copy" failed: a service it depends on could not be reached. Try again later',
  );
});
