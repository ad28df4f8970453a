import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';
import { GivenPassword, TokenPair } from '../schema.ts';

const exampleChallenge = `challenge_7_${'0f'.repeat(32)}`;
const Challenge = Type.String({
  maxLength: 100,
  pattern: '^challenge_[0-9]{1,15}_[0-9a-f]{64}$',
  rule: 'Must be the challenge of the answer to the password.',
  description: 'From the answer to the password; works for five minutes and for one login',
  examples: [exampleChallenge],
});

const Code = (description: string) =>
  Type.String({
    pattern: '^[0-9]{6}$',
    rule: 'Must have six digits.',
    description,
    examples: ['123456'],
  });
const OwnCode = Type.Optional(Code('A new code of the app, instead of the password'));
const OwnPassword = Type.Optional(GivenPassword("The user's password"));
const FactorName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  rule: 'Must not be empty.',
  description: 'What the user calls it',
  examples: ['Phone'],
});

/* What browsers answer (WebAuthn, 5.1). The library reads the texts. */

const Coded = (description: string, maxLength = 4_096) =>
  Type.String({ maxLength, pattern: '^[A-Za-z0-9_=-]*$', description, examples: ['AAAA'] });
const credential = {
  id: Coded('ID of the passkey', 2_048),
  rawId: Coded('The same', 2_048),
  type: wire.Choice(['public-key'], 'Always public-key'),
  authenticatorAttachment: wire.OptionalTextOrNull({ maxLength: 32, description: 'As the browser answers it' }),
  clientExtensionResults: Type.Optional(Type.Unknown({ description: 'As the browser answers it; not used' })),
};

const PasskeyAnswer = Type.Object(
  {
    ...credential,
    response: Type.Object({
      clientDataJSON: Coded('What the browser signed'),
      authenticatorData: Coded('What the authenticator says'),
      signature: Coded('The signature'),
      userHandle: wire.OptionalTextOrNull({ maxLength: 128, description: 'As the browser answers it; not used' }),
    }),
  },
  { title: 'PasskeyAnswer', description: 'What `navigator.credentials.get()` answers, as JSON' },
);
export type PasskeyAnswer = Static<typeof PasskeyAnswer>;

const NewPasskey = Type.Object(
  {
    ...credential,
    response: Type.Object({
      clientDataJSON: Coded('What the browser signed'),
      attestationObject: Coded('The new passkey', 65_536),
      authenticatorData: Type.Optional(Coded('As the browser answers it; not used', 65_536)),
      publicKey: Type.Optional(Coded('As the browser answers it; not used', 65_536)),
      publicKeyAlgorithm: wire.OptionalInteger({ description: 'As the browser answers it; not used' }),
      transports: wire.OptionalList(Type.String({ maxLength: 32, examples: ['internal'] }), {
        maxItems: 10,
        description: 'How browsers reach it',
      }),
    }),
  },
  { title: 'NewPasskey', description: 'What `navigator.credentials.create()` answers, as JSON' },
);

export const PasskeyOptions = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  title: 'PasskeyOptions',
  description: 'For `navigator.credentials` of a browser, as JSON (WebAuthn, 5.4.9 and 5.5.2)',
});

/* Logging in. */

export const SecondFactorLogin = wire.Input(
  'SecondFactorLogin',
  {
    challenge: Challenge,
    code: Type.Optional(Code('A code of the app; each works once')),
    recovery_code: wire.OptionalText({
      minLength: 1,
      maxLength: 64,
      description: 'One of the recovery codes; each works once',
      examples: ['abcd-efgh-jkmn-pqrs'],
    }),
    passkey: Type.Optional(PasskeyAnswer),
  },
  { challenge: exampleChallenge, code: '123456' },
);
export type SecondFactorLogin = Static<typeof SecondFactorLogin>;

export const ChallengeOnly = wire.Input('LoginChallenge', { challenge: Challenge }, { challenge: exampleChallenge });

const RecoveryCodeList = Type.Array(Type.String({ examples: ['abcd-efgh-jkmn-pqrs'] }), {
  description: 'Each signs in once instead of a code. Shown only this once.',
});

export const SecondFactorPair = wire.Named('SecondFactorTokenPair', {
  ...TokenPair.properties,
  recovery_codes: Type.Optional(RecoveryCodeList),
});
export type SecondFactorPair = Static<typeof SecondFactorPair>;

/* A user's own second factors. */

export const OwnProof = wire.Input(
  'OwnProof',
  { password: OwnPassword, code: OwnCode },
  { password: 'correct horse battery staple' },
);
export type OwnProof = Static<typeof OwnProof>;

export const NewTotp = wire.Input(
  'NewTotp',
  { name: Type.Optional(FactorName), password: OwnPassword, code: OwnCode },
  { name: 'Phone', password: 'correct horse battery staple' },
);
export const ConfirmTotp = wire.Input(
  'ConfirmTotp',
  { code: Code('A code of the app that was just set up') },
  { code: '123456' },
);
export const AddPasskey = wire.Input(
  'AddPasskey',
  { name: FactorName, passkey: NewPasskey },
  {
    name: 'Laptop',
    passkey: {
      id: 'AAAA',
      rawId: 'AAAA',
      type: 'public-key',
      response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
    },
  },
);
export type AddPasskey = Static<typeof AddPasskey>;

export const Totp = wire.Named('TotpSecret', {
  secret: Type.String({
    description: 'For the app, in base 32. Shown only this once.',
    examples: ['JBSWY3DPEHPK3PXP'],
  }),
  uri: Type.String({ description: 'The same as an address, for a QR code', examples: ['otpauth://totp/...'] }),
});
export type Totp = Static<typeof Totp>;

export const SecondFactor = wire.Named('SecondFactor', {
  id: Type.String({ format: 'uuid', description: 'ID of the second factor' }),
  kind: wire.Choice(['totp', 'passkey'], 'An app that makes codes, or a passkey'),
  name: Type.String({ description: 'What the user calls it', examples: ['Phone'] }),
  created_at: wire.Timestamp('When it was added'),
  last_used_at: wire.nullable(wire.Timestamp('When it was last used')),
});
export type SecondFactor = Static<typeof SecondFactor>;

export const SecondFactorList = wire.Named('SecondFactorList', {
  count: Type.Integer({ description: 'How many the user has', examples: [1] }),
  results: Type.Array(SecondFactor),
  recovery_codes: Type.Integer({ description: 'How many recovery codes are left', examples: [10] }),
  passkeys: Type.Boolean({ description: 'Whether this server can have passkeys: they need TRADEWIND_PUBLIC_URL' }),
});
export type SecondFactorList = Static<typeof SecondFactorList>;

export const RecoveryCodes = wire.Named('RecoveryCodes', { recovery_codes: RecoveryCodeList });
export const AddedFactor = wire.Named('AddedSecondFactor', {
  ...SecondFactor.properties,
  recovery_codes: Type.Optional(RecoveryCodeList),
});
export type AddedFactor = Static<typeof AddedFactor>;

export const FactorParams = Type.Object({
  second_factor_id: Type.String({ format: 'uuid', description: 'ID of the second factor' }),
});
