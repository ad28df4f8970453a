import pg from 'pg';

/**
 * A pool whose connections may break at any moment, also while they are lent out: whoever uses one then gets
 * the fault from the query, and the pool makes a new one. Without a listener on each, it would end the process.
 */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  return pool;
}
