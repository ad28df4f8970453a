import { expect, test } from 'vitest';
import { ConflictError, InvalidError, ifFound, NotFoundError, QuotaExceededError } from './errors.ts';

test('problems are grouped by field, each said once, and summed up in the message', () => {
  const error = new InvalidError([
    { field: 'name', message: 'Is too short.' },
    { field: 'tags.a', message: 'Is empty.' },
    { field: 'name', message: 'Has a blank.' },
    { field: 'name', message: 'Is too short.' },
  ]);
  expect(error.fields).toEqual({ name: ['Is too short.', 'Has a blank.'], 'tags.a': ['Is empty.'] });
  expect(error.message).toBe('Validation error: name: Is too short; Has a blank; tags.a: Is empty.');
});

test('fields may be called like a property of Object', () => {
  const problems = ['constructor', '__proto__'].map((field) => ({ field, message: 'Is unknown.' }));
  expect(Object.entries(new InvalidError(problems).fields)).toEqual([
    ['constructor', ['Is unknown.']],
    ['__proto__', ['Is unknown.']],
  ]);
});

test('an own message takes the place of the summary', () => {
  const error = new InvalidError({ name: ['Is too short.'] }, 'Not this.', 'That.');
  expect([error.message, error.hint, error.name]).toEqual(['Not this.', 'That.', 'InvalidError']);
});

test('an exceeded quota says its numbers', () => {
  const info = { attribute: 'volumes', current_usage: 9, requested_usage: 2, limit: 10 };
  const error = new QuotaExceededError(info);
  expect(error.info).toEqual(info);
  expect(error.message).toMatch(/volumes is limited to 10, 9 in use, 2 more/);
});

test('only what is not found counts as absent', async () => {
  expect(await ifFound(Promise.resolve(1))).toBe(1);
  expect(await ifFound(Promise.reject(new NotFoundError('Volume', 1)))).toBeUndefined();
  await expect(ifFound(Promise.reject(new ConflictError('busy')))).rejects.toThrow('busy');
});
