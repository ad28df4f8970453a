import { type Static, Type } from 'typebox';
import { Input } from '../../../lib/wire.ts';
import { NewPassword } from '../schema.ts';

const example = `reset_7_${'0f'.repeat(32)}`;

export const ResetPassword = Input(
  'ResetPassword',
  {
    token: Type.String({
      maxLength: 100,
      pattern: '^reset_[0-9]{1,15}_[0-9a-f]{64}$',
      rule: 'Must be the token of the mail, with reset_ before it.',
      description: 'The token that came by mail',
      examples: [example],
    }),
    password: NewPassword('New password'),
  },
  { token: example, password: 'many small green apples' },
);
export type ResetPassword = Static<typeof ResetPassword>;
