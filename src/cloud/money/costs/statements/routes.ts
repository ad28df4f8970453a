import type { FastifyReply } from 'fastify';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { accepts, csvLines, csvOf, streamed } from '../../../../http/streamed.ts';
import type { Platform } from '../../../../platform.ts';
import { runningCosts } from './running.ts';
import {
  asPageOrCsv,
  COST_COLUMNS,
  CostQuery,
  CostStatement,
  RunningCosts,
  RunningParams,
  StatementQuery,
  USAGE_COLUMNS,
  UsageStatement,
} from './schema.ts';
import { exportCosts, exportUsage, listCosts, listUsage } from './service.ts';

const CSV = 'text/csv';
const tags = ['Costs'];
const WHOSE =
  'Of your own account; of the clients of a reseller for its administrators; of all accounts for the platform administrator. `Accept: text/csv` exports everything that matches. What goes on counts until now.';

/** What accounts used, and what that costs. */
export function statementRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.get('/tradewind/v1/usage', 'listUsage', 'What accounts used', {
    refuses: [404],
    description: `By account, project, resource and day, in seconds. ${WHOSE}`,
    query: StatementQuery,
    answer: asPageOrCsv(UsageStatement),
    handler: async ({ principal, query, headers, method }, reply) => {
      if (!asksForCsv(headers.accept, method)) return listUsage(on, principal, query);
      return csv(reply, USAGE_COLUMNS, await exportUsage(on, principal, query));
    },
  });

  api.get('/tradewind/v1/costs', 'listCosts', 'What it costs that accounts used', {
    refuses: [404],
    description: `By account, project, resource and day. Each second costs what the preview said then. price=wholesale says what resellers owe the platform for it. ${WHOSE}`,
    query: CostQuery,
    answer: asPageOrCsv(CostStatement),
    handler: async ({ principal, query, headers, method }, reply) => {
      if (!asksForCsv(headers.accept, method)) return listCosts(on, principal, query);
      return csv(reply, COST_COLUMNS, await exportCosts(on, principal, query));
    },
  });

  api.get('/tradewind/v1/clients/:client_id/running_costs', 'getRunningCosts', 'What an account has, and its costs', {
    description:
      'What there is now, with the prices of now. It all costs the same while the account is suspended, and so do machines that are stopped. For the account, administrators of its reseller and the platform administrator.',
    params: RunningParams,
    answer: RunningCosts,
    handler: ({ principal, params }) => runningCosts(on, principal, params.client_id),
  });
}

const asksForCsv = (accept: string | undefined, method: string) => method !== 'HEAD' && accepts(accept, CSV);

function csv<Column extends string>(
  reply: FastifyReply,
  columns: readonly Column[],
  pages: AsyncGenerator<Partial<Record<Column, string | number | null>>[]>,
): FastifyReply {
  async function* texts(): AsyncGenerator<string> {
    yield csvOf(columns, []);
    for await (const page of pages) yield csvLines(columns, page);
  }
  return streamed(reply, `${CSV}; charset=utf-8`, texts());
}
