import type pg from 'pg';
import { createApi } from '../support/api.ts';
import type { BenchDatabase } from '../support/database.ts';
import { startProduct } from '../support/product.ts';
import type { MeasuredRequest, Operation } from './operation.ts';
import { operations } from './operations.ts';

/**
 * Prepares the operations whose names contain one of the texts in `only`. The product runs from the checkout at `root`, or from
 * this one. `skipped` gets the names of those that could not be prepared.
 */
export async function prepareRequests(
  only: readonly string[],
  database: BenchDatabase,
  pool: pg.Pool,
  skipped: string[],
  root?: string,
): Promise<{ operation: Operation; request: MeasuredRequest }[]> {
  const settings = { DATABASE_URL: database.url, TRADEWIND_SIMULATION_SPEED: '1000' };
  const product = await startProduct(settings, { root });
  const requests: { operation: Operation; request: MeasuredRequest }[] = [];
  try {
    const api = createApi(product.port);
    for (const operation of operations) {
      const name = operation.name.toLowerCase();
      if (!only.some((part) => name.includes(part.toLowerCase()))) continue;
      try {
        requests.push({ operation, request: await operation.prepare(api, pool) });
      } catch (error) {
        skipped.push(`Not measured: ${operation.name}. ${(error as Error).message}`);
      }
    }
  } finally {
    await product.stop();
  }
  return requests;
}
