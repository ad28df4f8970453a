import type pg from 'pg';

/** Modes that the driver takes for verify-full, as these words would promise less than it does. */
const VERIFYING = /([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/;

/**
 * How the driver reaches the database of a URL. It checks the server's certificate in every mode but `disable` and `no-verify`,
 * and warns in eight lines that this may change: said outright, it has nothing to warn of.
 */
export function connectionTo(databaseUrl: string): pg.ClientConfig & { connectionString: string } {
  const asLibpq = /[?&]uselibpqcompat=true(&|$)/.test(databaseUrl);
  return {
    connectionString: asLibpq ? databaseUrl : databaseUrl.replace(VERIFYING, '$1verify-full'),
  };
}
