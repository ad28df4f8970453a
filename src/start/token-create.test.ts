import { afterEach, expect, it, vi } from 'vitest';
import { loadConfig } from '../config.ts';
import { tokenCreate } from './database-commands.ts';

afterEach(() => vi.restoreAllMocks());

it.each([
  ['tomorrow', 'must be a time like'],
  ['1', 'must be a time like'],
  ['2030-13-01', 'must be a time like'],
  ['2030-01-01T00:00', 'must be a time like'],
  ['2020-01-01', 'must be in the future'],
])('shows the form of --expires when it is %s', async (expires, complaint) => {
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const options = { name: 'x', role: 'Users', expires };
  const code = await tokenCreate.run({ config: loadConfig({}), options, stop: new AbortController().signal });
  expect(code).toBe(2);
  expect(told.mock.calls.join('')).toMatch(new RegExp(`--expires ${complaint}.*\\d{4}-01-31T00:00:00Z\\n$`));
});
