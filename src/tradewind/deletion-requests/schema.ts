import { type Static, Type } from 'typebox';
import { Input, IntegerOrNull, Named, nullable, Timestamp } from '../../lib/wire.ts';

const Reason = Type.String({
  maxLength: 1_000,
  description: 'Why the account should go, for the reseller',
  examples: ['We have moved elsewhere'],
});

export const DeletionRequest = Named('DeletionRequest', {
  client_id: Type.Integer({ description: 'The account', examples: [2] }),
  requested_at: nullable(Timestamp('When it was asked for; null if it was not')),
  user_id: IntegerOrNull({ description: 'Who asked for it' }),
  reason: nullable(Reason),
});
export type DeletionRequest = Static<typeof DeletionRequest>;

export const RequestDeletion = Input(
  'RequestDeletion',
  { reason: Type.Optional(Reason) },
  { reason: 'We have moved elsewhere' },
);
export type RequestDeletion = Static<typeof RequestDeletion>;
