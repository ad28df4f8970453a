import type { FastifyRequest } from 'fastify';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Versioned } from '../../../lib/versioned.ts';
import type { Platform } from '../../../platform.ts';
import * as schema from './schema.ts';
import { changeBudget, createBudget, deleteBudget, getBudget, listBudgets } from './service.ts';

const BASE = '/tradewind/v1/budgets';
const ONE = `${BASE}/:budget_id`;
const VERSIONED: Versioned = { table: 'budgets', columns: { budget_id: 'id' } };
const access = 'administer';

export function budgetRoutes(app: Api, on: Platform): void {
  // Before anything is said of it: a version, for example.
  const preHandler = async ({ principal, params }: FastifyRequest) => {
    await getBudget(on, principal, (params as { budget_id: number }).budget_id);
  };
  const api = operations(app, { tags: ['Budgets'], params: schema.BudgetParams });

  api.get(BASE, 'listBudgets', 'List budgets', {
    description:
      "Those of your own account and its projects, the latest first. Administrators of a reseller see its clients' as well, the platform administrator all.",
    query: schema.BudgetQuery,
    answer: schema.Budgets,
    handler: ({ principal, query }) => listBudgets(on, principal, query),
  });

  api.post(BASE, 'createBudget', 'Set a budget for an account or a project', {
    access,
    description:
      'What was spent is counted about once a minute, as in cost reports. With `stops_creation`, requests that make something in the account or project are refused with 403 from then on until the month ends or the budget is raised: what is there runs on, and costs. An account and its reseller can have one budget each for the account and for each project.',
    body: schema.NewBudget,
    status: 201,
    refuses: [409],
    answer: schema.Budget,
    handler: async ({ principal, body }) => await createBudget(on, principal, body),
  });

  api.get(ONE, 'getBudget', 'Get a budget', {
    versioned: VERSIONED,
    answer: schema.Budget,
    handler: ({ principal, params }) => getBudget(on, principal, params.budget_id),
  });

  api.patch(ONE, 'updateBudget', 'Change a budget', {
    access,
    refuses: [409],
    preHandler,
    description:
      'It is counted anew within seconds. Administrators are told again of what is spent by then. A new amount is in the currency that the account pays in now.',
    body: schema.BudgetChange,
    answer: schema.Budget,
    handler: ({ principal, params, body }) => changeBudget(on, principal, params.budget_id, body),
  });

  api.delete(ONE, 'deleteBudget', 'Delete a budget', {
    access,
    preHandler,
    handler: ({ principal, params }) => deleteBudget(on, principal, params.budget_id),
  });
}
