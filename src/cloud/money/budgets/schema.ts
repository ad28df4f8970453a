import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';
import { CurrencyCode } from '../../ground/catalog/schema.ts';

const { Array: List, Boolean: Flag, Integer, Number: Num, Optional } = Type;

const amount = Num({
  exclusiveMinimum: 0,
  maximum: 1e12,
  description: 'What may be spent in a calendar month in UTC, with VAT',
  examples: [500],
});
const warnAt = (options: object) =>
  List(Integer({ minimum: 1, maximum: 1000, description: 'Percentage' }), {
    maxItems: 10,
    uniqueItems: true,
    description: 'Percentages at which administrators get a mail, once in a month each',
    examples: [[50, 80, 100]],
    ...options,
  });
const stops = (options: object) =>
  Flag({
    description: 'Whether nothing new can be made for the rest of the month once the amount is spent',
    ...options,
  });
export const DEFAULT_WARNINGS = [50, 80, 100];

export const Budget = wire.Named('Budget', {
  id: wire.IntegerId('Budget'),
  client_id: Integer({ description: 'Account' }),
  project_id: wire.IntegerOrNull({ description: 'Project; null for the whole account' }),
  set_by: wire.Choice(
    ['account', 'reseller'],
    "The account's own, or set by its reseller; then only the reseller changes it",
  ),
  amount,
  currency: CurrencyCode,
  warn_at: warnAt({}),
  stops_creation: stops({}),
  month: wire.TextOrNull({
    description: 'The month that was counted; null before the first count',
    examples: ['2026-03'],
  }),
  spent: wire.nullable(
    Num({
      description: 'What was spent in it so far; null if not counted yet, or if prices are hidden',
      examples: [412.5],
    }),
  ),
  is_spent: Flag({ description: 'Whether the amount is spent this month' }),
  counted_at: wire.nullable(wire.Timestamp('When that was counted')),
  created_at: wire.Timestamp(),
});
export type Budget = Static<typeof Budget>;

export const Budgets = wire.Named('BudgetList', {
  results: List(Budget),
  next_page_token: wire.TextOrNull({ description: 'Token of the next page; null on the last' }),
});
export type Budgets = Static<typeof Budgets>;

export const BudgetQuery = wire.Query({
  client_id: Optional(wire.IntegerId('Only of this account')),
  project_id: Optional(wire.IntegerId('Only of this project')),
  limit: Optional(Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Budgets per page' })),
  page_token: wire.OptionalText({ maxLength: 200, description: '`next_page_token` of the page before' }),
});
export type BudgetQuery = Static<typeof BudgetQuery>;

export const BudgetParams = Type.Object({ budget_id: wire.IntegerId('Budget') });

export const NewBudget = wire.Input(
  'NewBudget',
  {
    client_id: Optional(wire.IntegerId('A client of yours; your own account if left out')),
    project_id: Optional(wire.IntegerId('Only for this project; for the whole account if left out')),
    amount,
    warn_at: Optional(warnAt({ default: DEFAULT_WARNINGS })),
    stops_creation: Optional(stops({ default: false })),
  },
  { amount: 500, warn_at: DEFAULT_WARNINGS, stops_creation: true },
);
export type NewBudget = Static<typeof NewBudget>;

export const BudgetChange = wire.Input(
  'BudgetChange',
  { amount: Optional(amount), warn_at: Optional(warnAt({})), stops_creation: Optional(stops({})) },
  { amount: 800 },
);
export type BudgetChange = Static<typeof BudgetChange>;
