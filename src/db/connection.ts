import type pg from 'pg';

/** Modes that the driver treats as verify-full, although their names promise less. */
const VERIFYING = /([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/;

/**
 * Returns how the driver reaches the database of a URL. It checks the server's certificate in every mode but
 * `disable` and `no-verify`, and warns in eight lines that this may change; writing verify-full avoids the
 * warning.
 */
export function connectionTo(databaseUrl: string): pg.ClientConfig & { connectionString: string } {
  const asLibpq = /[?&]uselibpqcompat=true(&|$)/.test(databaseUrl);
  return {
    connectionString: asLibpq ? databaseUrl : databaseUrl.replace(VERIFYING, '$1verify-full'),
  };
}
