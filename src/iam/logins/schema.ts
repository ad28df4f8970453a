import { type Static, Type } from 'typebox';
import { Email } from '../../lib/email.ts';
import * as wire from '../../lib/wire.ts';

/** A password that somebody types to log in. */
export const GivenPassword = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, description, examples: ['correct horse battery staple'] });

/** The length matters most (NIST SP 800-63B, 3.1.1.2). */
export const PASSWORD_LENGTH = { min: 8, max: 256 };

/** A password to be stored. */
export const NewPassword = (description: string) =>
  Type.String({
    minLength: PASSWORD_LENGTH.min,
    maxLength: PASSWORD_LENGTH.max,
    description: `${description}; 8 to 256 characters of any kind`,
    examples: ['many small green apples'],
  });

export const LoginRequest = wire.Input(
  'LoginRequest',
  {
    username: Type.String({
      minLength: 1,
      maxLength: 254,
      description: 'E-mail address of the user',
      examples: ['user@example.com'],
    }),
    password: GivenPassword('Password'),
    one_time_password: wire.OptionalTextOrNull({
      maxLength: 64,
      description:
        'A code of the app, or a recovery code, of a user who has a second factor. Without it, the answer is 401 with a challenge.',
      examples: ['123456'],
    }),
  },
  { username: 'user@example.com', password: 'correct horse battery staple' },
);
export type LoginRequest = Static<typeof LoginRequest>;

export const RefreshRequest = wire.Input(
  'RefreshRequest',
  {
    refresh: Type.String({
      minLength: 1,
      maxLength: 8192,
      description: 'The refresh token of the last pair',
      examples: ['eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl'],
    }),
  },
  { refresh: 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl' },
);

export const TokenPair = wire.Named('TokenPair', {
  access: Type.String({ description: 'For `Authorization: Bearer <access>`. Valid for 1 hour.' }),
  refresh: Type.String({ description: 'Gets the next pair, once. Valid for 24 hours.' }),
});
export type TokenPair = Static<typeof TokenPair>;

export const ForgotPassword = wire.Input(
  'ForgotPassword',
  { email: Email('Address of the user') },
  { email: 'user@example.com' },
);
export const Sent = wire.Named('ForgottenPasswordNoted', {
  status: wire.Choice(['sent'], 'The same, whether the user exists or not'),
});

export const ChangePassword = wire.Input(
  'ChangePassword',
  {
    old: GivenPassword('The current password'),
    new: NewPassword('The new password'),
    double: GivenPassword('The new password again'),
  },
  {
    old: 'correct horse battery staple',
    new: 'many small green apples',
    double: 'many small green apples',
  },
);
export type ChangePassword = Static<typeof ChangePassword>;

const LoginAttempt = wire.Named('LoginAttempt', {
  id: Type.Integer({ description: 'Attempt ID', examples: [1] }),
  user_id: wire.IntegerOrNull({ ...wire.NULL_AS_ABSENT, description: 'The user; none if no user has that name' }),
  username: Type.String({ description: 'The name that was entered', examples: ['user@example.com'] }),
  successful: Type.Boolean({ description: 'Whether the password, or the second factor, was right' }),
  ip_address: Type.String({ description: 'Where the request came from', examples: ['192.0.2.1'] }),
  user_agent: wire.TextOrNull({ ...wire.NULL_AS_EMPTY, description: 'The `User-Agent` header' }),
  created_at: wire.Timestamp('When the attempt was made'),
  login_at: wire.Timestamp('The same as `created_at`'),
  is_successful: Type.Boolean({ description: 'The same as `successful`' }),
  auth_type: Type.String({
    description: 'What was given: password, totp, recovery_code or passkey; or sso, for an identity provider',
    examples: ['password'],
  }),
  user: Type.Integer({ description: 'The user; 0 if no user has that name', examples: [1] }),
});
export type LoginAttempt = Static<typeof LoginAttempt>;

export const LoginAttemptPage = wire.Named('LoginAttemptPage', {
  ...wire.pageFields,
  result: Type.Array(LoginAttempt),
});
export type LoginAttemptPage = Static<typeof LoginAttemptPage>;
