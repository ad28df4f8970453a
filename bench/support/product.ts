import { type Child, startNode } from './child.ts';

export const TOKEN = `1_${'5eed'.repeat(8)}`;

export interface Product extends Child {
  port: number;
}

/** Starts `node dist/src/main.js serve`: the product as in production, on a free port. `root` is
 * the folder of another checkout; `behind` lets the bench go first. */
export async function startProduct(
  settings: Record<string, string>,
  {
    nodeArgs = [],
    role = 'all',
    program = 'dist/src/main.js',
    root,
    behind,
  }: {
    nodeArgs?: readonly string[];
    role?: 'all' | 'api';
    program?: string;
    root?: string | undefined;
    behind?: boolean;
  } = {},
): Promise<Product> {
  const child = await startNode(
    [...nodeArgs, program, 'serve', '--role', role],
    /ready at http:\/\/[^\s]*:(\d+)/,
    {
      NODE_ENV: 'production',
      DATABASE_URL: undefined,
      TRADEWIND_ENCRYPTION_KEY: Buffer.alloc(32, 'bench').toString('base64'),
      TRADEWIND_HOST: '127.0.0.1',
      TRADEWIND_PORT: '0',
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_LOG_LEVEL: 'warn',
      // High enough to refuse nothing; every request is still counted.
      TRADEWIND_RATE_LIMIT: '999999999',
      TRADEWIND_AI_CONCURRENCY: '0',
      ...settings,
    },
    root,
    behind,
  );
  return { ...child, port: Number(child.ready[1]) };
}
