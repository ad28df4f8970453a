import type { FastifyReply } from 'fastify';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { csvOf } from '../../../http/streamed.ts';
import type { Platform } from '../../../platform.ts';
import * as schema from './schema.ts';
import { costsOfResources, costTotals, monthlyCostTotals, usageOfResources } from './service.ts';

const tags = ['Costs'];
const EXACT =
  'Whatever goes on counts until now: nothing is delayed. Costs are those of the price previews, by the second, with the prices of each time.';
const TOTALS = schema.asJsonOrCsv(schema.CostTotals, 'type,region\r\nvolume,1\r\n');
const RESOURCES = schema.asJsonOrCsv(schema.ResourceCosts, 'type,region\r\nvolume,1\r\n');

/** What the account of the caller used, and what that costs. */
export function costRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, access: 'read' });

  api.post('/cloud/v1/cost_report/totals', 'getCostTotals', 'Get the costs of the account by kind of resource', {
    onlyAsks: true,
    closedBody: true,
    description: `31 days at most. ${EXACT}`,
    body: schema.CostTotalsRequest,
    answer: TOTALS,
    handler: async ({ principal, body }, reply) =>
      inFormat(reply, body, schema.TOTAL_FIELDS, await costTotals(on, principal, body)),
  });

  api.post('/cloud/v1/cost_report/resources', 'getResourceCosts', 'Get the costs of the account by resource', {
    onlyAsks: true,
    closedBody: true,
    description: `31 days at most. A resource that changed its flavor or type comes once for each. ${EXACT}`,
    body: schema.CostResourcesRequest,
    answer: RESOURCES,
    handler: async ({ principal, body }, reply) =>
      inFormat(reply, body, schema.RESOURCE_FIELDS, await costsOfResources(on, principal, body)),
  });

  api.post(
    '/cloud/v1/reservation_cost_report/totals',
    'getMonthlyCostTotals',
    'Get the costs of the account in a month by kind of resource',
    {
      onlyAsks: true,
      closedBody: true,
      description: `There are no reservations, so everything is paid as it is used. ${EXACT}`,
      body: schema.MonthlyCostTotalsRequest,
      answer: TOTALS,
      handler: async ({ principal, body }, reply) =>
        inFormat(reply, body, schema.TOTAL_FIELDS, await monthlyCostTotals(on, principal, body)),
    },
  );

  api.post('/cloud/v1/usage_report', 'getUsage', 'Get what the account used', {
    onlyAsks: true,
    closedBody: true,
    description: 'A year at most. Whatever goes on counts until now: nothing is delayed.',
    body: schema.UsageRequest,
    answer: schema.Usage,
    handler: ({ principal, body }) => usageOfResources(on, principal, body),
  });
}

function inFormat<Report extends schema.CostTotals | schema.ResourceCosts>(
  reply: FastifyReply,
  { response_format = 'json' }: { response_format?: string },
  fields: readonly string[],
  report: Report,
): Report | FastifyReply {
  if (response_format === 'json') return report;
  return reply.type('text/csv; charset=utf-8').send(csvOf(fields, report.results));
}
