import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';
import { connectionTo } from '../start/storage.ts';

afterEach(() => vi.restoreAllMocks());

it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
  'checks the certificate with sslmode=%s, without a word',
  (mode) => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const client = new pg.Client(connectionTo(`postgresql://u:p@h/d?sslmode=${mode}&application_name=x`));
    expect(client.ssl).toEqual({});
    expect(warned).not.toHaveBeenCalled();
  },
);

it('leaves every other way as it is', () => {
  for (const mode of [
    'sslmode=disable',
    'sslmode=no-verify',
    'sslmode=require&uselibpqcompat=true',
    'xsslmode=require',
  ])
    expect(connectionTo(`postgresql://u:p@h/d?${mode}`).connectionString).toBe(`postgresql://u:p@h/d?${mode}`);
});
