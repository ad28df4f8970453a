import { type Static, Type } from 'typebox';
import { Email } from '../../../lib/email.ts';
import { orderedListQuery } from '../../../lib/lists.ts';
import * as wire from '../../../lib/wire.ts';
import { Phone } from '../../accounts/schema.ts';

const sellerFields = {
  id: Type.Integer({ description: 'The ID of the user who the seller is', examples: [7] }),
  email: Type.String({ examples: ['seller@example.com'] }),
  full_name: Type.String({ examples: ['Jane Doe'] }),
  phone: wire.TextOrNull({ ...wire.NULL_AS_ABSENT, examples: ['+12025550123'] }),
  reseller_name: Type.String({ description: "The reseller's name", examples: ['Example Cloud'] }),
  company: Type.String({ description: "Name of the reseller's own account", examples: ['Example Cloud'] }),
  date_joined: wire.Timestamp('When the seller was invited'),
  activated: Type.Boolean({ description: 'Whether the seller has set a password' }),
  deleted: Type.Boolean(),
};
export const Seller = wire.Named('Seller', sellerFields);
export type Seller = Static<typeof Seller>;

export const InvitedSeller = wire.Named('InvitedSeller', {
  ...sellerFields,
  invitation_token: Type.String({
    description: 'The token of the mail, for `POST /iam/auth/accept_invitation`, once',
  }),
  invitation_expires: wire.Timestamp('When the token stops working: after 24 hours'),
});
export type InvitedSeller = Static<typeof InvitedSeller>;

const SellerEmail = (description: string) => Type.String({ ...Email(description), maxLength: 150 });
const fields = {
  full_name: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '\\S',
    rule: 'Must not be empty.',
    description: "The seller's name",
    examples: ['Jane Doe'],
  }),
  phone: wire.TextOrNull({
    maxLength: 30,
    pattern: '^[a-z0-9+\\-()#, *]*$',
    rule: 'Must consist of lower-case letters, digits, spaces and + - ( ) # , *.',
    description: "The seller's telephone number; null: none",
    examples: ['+12025550123'],
  }),
};
const readOnly = {
  id: wire.ReadOnly,
  reseller_name: wire.ReadOnly,
  company: wire.ReadOnly,
  date_joined: wire.ReadOnly,
  activated: wire.ReadOnly,
  deleted: wire.ReadOnly,
};

export const CreateSeller = wire.Input(
  'CreateSeller',
  {
    email: SellerEmail('Address to log in with, which no other user has'),
    full_name: fields.full_name,
    phone: Type.Optional(fields.phone),
    ...readOnly,
  },
  { email: 'seller@example.com', full_name: 'Jane Doe' },
);
export type CreateSeller = Static<typeof CreateSeller>;

/** Takes whatever a seller may be given as a user, so that what GET answers can be sent back. */
export const UpdateSeller = wire.Input(
  'UpdateSeller',
  {
    email: Type.Optional(
      Email(
        'Address to log in with. Sellers change their own with their password (`PUT /iam/users/{userId}/email`); apart from them, only the administrator of the platform can change it.',
      ),
    ),
    full_name: wire.OptionalText({
      maxLength: 255,
      description: "The seller's name; empty: none",
      examples: ['Jane Doe'],
    }),
    phone: Type.Optional(Phone("The seller's telephone number; null: none")),
    ...readOnly,
  },
  { full_name: 'Jane Doe', phone: '+12025550123' },
);
export type UpdateSeller = Static<typeof UpdateSeller>;

export const SellerParams = Type.Object({ sellerId: wire.IntegerId('Seller ID') });

export const ORDERINGS = ['id', 'email', 'full_name', 'date_joined', 'activated', 'deleted'] as const;

const part = (what: string) =>
  wire.OptionalText({ maxLength: 255, description: `${what} contains this, in any letter case` });

export const SellerListQuery = wire.Query({
  ...orderedListQuery(ORDERINGS),
  id: Type.Optional(wire.IntegerId('The seller with this ID')),
  id__in: wire.OptionalText({
    maxLength: 2000,
    pattern: '^\\d{1,15}(,\\d{1,15})*$',
    rule: 'Must be IDs separated by commas.',
    description: 'Sellers with these IDs; separated by commas',
  }),
  id__contains: wire.OptionalText({
    maxLength: 15,
    pattern: '^\\d+$',
    rule: 'Must consist of digits.',
    description: 'The digits of the ID contain these',
  }),
  email: part('The e-mail address'),
  full_name: part('The name'),
  reseller_name: part("The reseller's name"),
  activated: wire.OptionalFlag({ description: 'Whether the seller has set a password' }),
  deleted: wire.OptionalText({
    maxLength: 255,
    description: 'true: only deleted sellers; false: only sellers that are not deleted; anything else: both',
  }),
});
export type SellerListQuery = Static<typeof SellerListQuery>;

export const SellerPage = wire.Named('SellerPage', { ...wire.pageFields, results: Type.Array(Seller) });
export type SellerPage = Static<typeof SellerPage>;
/** The type distinguishes the two: an array, or an object. */
export const SellerList = Type.Union([Type.Array(Seller), SellerPage], { title: 'SellerList' });
