import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';

/*
 * Lists that say something about accounts from a time on: about all of them, those of a reseller, or one.
 */

export const LIST_SCOPES = ['everyone', 'reseller', 'client'] as const;
export type ListScope = (typeof LIST_SCOPES)[number];

const Scope = wire.Choice(LIST_SCOPES, {
  description: 'Whom it is for: all accounts, those of a reseller, or one. The narrower goes before the wider',
  examples: ['client'],
});

/** What every new list has. */
export const newListFields = {
  scope: Scope,
  id: Type.Optional(wire.IntegerId('The reseller or the account; left out for everyone')),
  valid_from: Type.Optional(
    wire.QueryTime('When it comes into force, at a full second; now if left out. What is over never changes'),
  ),
};
export interface NewList {
  scope: ListScope;
  id?: number;
  valid_from?: string;
}

/** What every list has, around what it says. */
export const listFields = {
  id: wire.IntegerId('List'),
  scope: Scope,
  reseller_id: wire.IntegerOrNull({ description: 'The reseller that it is for' }),
  client_id: wire.IntegerOrNull({ description: 'The account that it is for' }),
  valid_from: wire.Timestamp('When it comes into force. It holds until the next one for the same does'),
};
export const makingFields = {
  created_by: Type.Integer({ description: 'The user who made it' }),
  created_at: wire.Timestamp(),
};

export const DatedListQuery = wire.Query({
  scope: Type.Optional(Scope),
  id: Type.Optional(wire.IntegerId('Only those for this reseller or account; together with scope')),
  limit: wire.OptionalInteger({ minimum: 1, maximum: 1_000, default: 100, description: 'Maximum number of results' }),
  page_token: wire.OptionalText({ pattern: '^[\\w-]{1,60}$', description: '`next_page_token` of the page before' }),
});
export type DatedListQuery = Static<typeof DatedListQuery>;
export const nextPage = {
  next_page_token: wire.TextOrNull({ description: 'For the next page; null on the last one' }),
};
