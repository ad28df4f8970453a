import { type Static, Type } from 'typebox';
import { Choice, IntegerId, nullable, Query, QueryTime, Timestamp } from '../../../lib/wire.ts';

/*
 * Lists that say something about accounts from a time on: about all of them, those of a reseller, or one.
 */

export const LIST_SCOPES = ['everyone', 'reseller', 'client'] as const;
export type ListScope = (typeof LIST_SCOPES)[number];

const Scope = Choice(LIST_SCOPES, {
  description: 'Whom it is for: all accounts, those of a reseller, or one. The narrower goes before the wider',
  examples: ['client'],
});

/** What every new list has. */
export const newListFields = {
  scope: Scope,
  id: Type.Optional(IntegerId('The reseller or the account; left out for everyone')),
  valid_from: Type.Optional(
    QueryTime('When it comes into force, at a full second; now if left out. What is over never changes'),
  ),
};
export interface NewList {
  scope: ListScope;
  id?: number;
  valid_from?: string;
}

/** What every list has, around what it says. */
export const listFields = {
  id: IntegerId('List'),
  scope: Scope,
  reseller_id: nullable(Type.Integer({ description: 'The reseller that it is for' })),
  client_id: nullable(Type.Integer({ description: 'The account that it is for' })),
  valid_from: Timestamp('When it comes into force. It holds until the next one for the same does'),
};
export const makingFields = {
  created_by: Type.Integer({ description: 'The user who made it' }),
  created_at: Timestamp(),
};

export const DatedListQuery = Query({
  scope: Type.Optional(Scope),
  id: Type.Optional(IntegerId('Only those for this reseller or account; together with scope')),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'Maximum number of results' }),
  ),
  page_token: Type.Optional(
    Type.String({ pattern: '^[\\w-]{1,60}$', description: '`next_page_token` of the page before' }),
  ),
});
export type DatedListQuery = Static<typeof DatedListQuery>;
export const nextPage = {
  next_page_token: nullable(Type.String({ description: 'For the next page; null on the last one' })),
};
