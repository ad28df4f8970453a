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
  confirmed_at: nullable(
    Timestamp('When it was confirmed with the link that was mailed to whoever asked; null if it was not'),
  ),
});
export type DeletionRequest = Static<typeof DeletionRequest>;

export const RequestDeletion = Input(
  'RequestDeletion',
  { reason: Type.Optional(Reason) },
  { reason: 'We have moved elsewhere' },
);
export type RequestDeletion = Static<typeof RequestDeletion>;

const token = `deletion_2_${'0f'.repeat(32)}`;
export const ConfirmDeletion = Input(
  'ConfirmDeletion',
  {
    token: Type.String({
      maxLength: 100,
      pattern: '^deletion_[0-9]{1,15}_[0-9a-f]{64}$',
      rule: 'Must be the token of the mail, with deletion_ before it.',
      description: 'The token that came by mail',
      examples: [token],
    }),
  },
  { token },
);
export type ConfirmDeletion = Static<typeof ConfirmDeletion>;
