import { type Static, Type } from 'typebox';
import { Email } from '../../lib/email.ts';
import { orderedListQuery } from '../../lib/lists.ts';
import * as wire from '../../lib/wire.ts';
import * as accountsSchema from '../accounts/schema.ts';

const perService = <T extends object>(entry: T) =>
  Object.fromEntries(accountsSchema.SERVICES.map((service) => [service, entry])) as Record<
    accountsSchema.ServiceName,
    T
  >;

const ServiceStatus = wire.Named('ServiceStatus', {
  status: wire.Choice(accountsSchema.SERVICE_STATUSES, '`new` for a service that this platform does not offer'),
  enabled: Type.Boolean(),
});

const accountFeature = {
  feature_id: Type.Integer({ description: 'Feature ID', examples: [5] }),
  service: Type.String({ examples: ['CDN'] }),
  name: Type.String({ examples: ['Speech transcription'] }),
  create_date: wire.Timestamp('When it was activated'),
};
const AccountPaidFeature = wire.Named('AccountPaidFeature', {
  ...accountFeature,
  paid_feature_id: Type.Integer({ description: 'ID of the activation' }),
});
const AccountFreeFeature = wire.Named('AccountFreeFeature', {
  ...accountFeature,
  free_feature_id: Type.Integer({ description: 'ID of the activation' }),
});

const accountFields = {
  id: Type.Integer({ description: 'Client ID', examples: [1] }),
  email: Type.String({ description: 'E-mail address of the contact person' }),
  name: wire.TextOrNull({ ...wire.NULL_AS_EMPTY, description: 'Name of the contact person' }),
  status: wire.Choice(['new', 'trial', 'trialend', 'active', 'integration', 'paused', 'preparation', 'ready'], {
    description: '`paused`: nobody can use the account',
  }),
  companyName: Type.String({ examples: ['Example Ltd'] }),
  currentUser: Type.Integer({ description: 'User that the token acts for', examples: [1] }),
  capabilities: Type.Array(wire.Choice(accountsSchema.SERVICES), {
    description: 'Services that the account may use',
  }),
  serviceStatuses: wire.Named('ServiceStatuses', perService(ServiceStatus)),
  paidFeatures: wire.Named('AccountPaidFeatures', perService(Type.Array(AccountPaidFeature))),
  freeFeatures: wire.Named('AccountFreeFeatures', perService(Type.Array(AccountFreeFeature))),
  entryBaseDomain: wire.TextOrNull({
    ...wire.NULL_AS_EMPTY,
    description: 'Always none: the platform serves one domain.',
  }),
  signup_process: wire.TextOrNull({
    ...wire.NULL_AS_ABSENT,
    description: 'Always none: accounts are made by a reseller.',
  }),
  deleted: Type.Boolean(),
  bill_type: Type.String({ description: 'Always common' }),
  is_test: Type.Boolean(),
  has_active_admin: Type.Boolean({ description: 'Whether an administrator has access' }),
  phone: wire.TextOrNull({ ...wire.NULL_AS_ABSENT }),
  website: wire.TextOrNull({ ...wire.NULL_AS_ABSENT, description: 'Always none: it is not stored.' }),
  custom_id: wire.TextOrNull({ ...wire.NULL_AS_ABSENT, description: "The reseller's own number for the client" }),
  country_code: wire.TextOrNull({ ...wire.NULL_AS_ABSENT, examples: ['DE'] }),
  users: wire.OptionalList(accountsSchema.User, { description: 'Left out in lists' }),
};
export const Account = wire.Named('Account', accountFields);
export type Account = Static<typeof Account>;

export const CLIENT_TYPES = ['common', 'reseller', 'sales'] as const;
export const Client = wire.Named('Client', {
  ...accountFields,
  seller: wire.IntegerOrNull({
    ...wire.NULL_AS_ABSENT,
    description: 'Seller of the reseller, or another user of it, who looks after it',
  }),
  resellers: Type.Integer({
    description: 'Its reseller: a single one, despite the name',
    examples: [1],
  }),
  client_type: wire.Choice(CLIENT_TYPES, '`reseller` for an account that a reseller works in'),
  owner: wire.IntegerOrNull({ ...wire.NULL_AS_ABSENT, description: 'Its first administrator' }),
});
export type Client = Static<typeof Client>;

const Company = accountsSchema.CompanyName('Name of the company; several clients may have the same.');

export const CreateClient = wire.Input('CreateClient', { company: Company }, { company: 'Example Ltd' });
export type CreateClient = Static<typeof CreateClient>;

export const CreatedClient = wire.Named('CreatedClient', {
  id: Type.Integer({ description: 'Client ID', examples: [2] }),
  company: Type.String(),
});
export type CreatedClient = Static<typeof CreatedClient>;

export const UpdateClient = wire.Input(
  'UpdateClient',
  {
    email: Type.Optional(Email('E-mail address of the contact person')),
    companyName: Type.Optional(Company),
    custom_id: wire.OptionalTextOrNull({
      maxLength: 255,
      description: "The reseller's own number for the client; null: none",
    }),
    name: Type.Optional(accountsSchema.PersonName('Name of the contact person; null: none')),
    phone: Type.Optional(accountsSchema.Phone('Telephone number; null: none')),
    reseller: Type.Optional(wire.IntegerId('Its reseller. Only the platform administrator may change it.')),
    seller: Type.Optional(
      wire.nullable(wire.IntegerId('Seller of the reseller, or another user of it, who looks after it; null: nobody')),
    ),
    is_test: wire.OptionalFlag({ description: 'The client is for tests', examples: [false] }),
  },
  { companyName: 'Example Ltd', custom_id: 'A-1042', phone: '+12025550123' },
);
export type UpdateClient = Static<typeof UpdateClient>;

export const ORDERINGS = ['id', 'email', 'name', 'status', 'companyName', 'created_at'] as const;

const text = (description: string) => wire.OptionalText({ maxLength: 255, description });
const part = (what: string) => text(`${what} contains this, in any letter case`);
const flag = (description: string) => wire.OptionalFlag({ description });
const moment = (description: string) =>
  wire.OptionalText({ format: 'date-time', description, examples: ['2026-01-31T00:00:00Z'] });
const ids = (description: string) =>
  wire.OptionalText({
    maxLength: 2000,
    pattern: '^\\d{1,15}(,\\d{1,15})*$',
    rule: 'Must be IDs separated by commas.',
    description: `${description}; separated by commas`,
  });
const ServiceState = wire.OptionalChoice(
  accountsSchema.SERVICE_STATUSES,
  'Clients whose service of this name has this status',
);

export const ClientListQuery = wire.Query({
  ...orderedListQuery(ORDERINGS),
  email: part('The e-mail address of the contact person'),
  companyName: part('The company name'),
  name: part('The name of the contact person'),
  deleted: text('true: only deleted clients; false: only clients that are not deleted; anything else: both'),
  reseller_id: Type.Optional(wire.IntegerId('Clients of this reseller')),
  seller_id: Type.Optional(wire.IntegerId('Clients that this user looks after')),
  custom_id: text("The reseller's own number"),
  cdn: ServiceState,
  storage: ServiceState,
  ddos: ServiceState,
  dns: ServiceState,
  cloud: ServiceState,
  streaming: ServiceState,
  activated: flag('Whether an administrator has a password to log in with'),
  id__in__exclude: ids('Clients to leave out'),
  bill_type: text('All clients have the type common'),
  users_name: part('The name of a user'),
  users_email: part('The e-mail address of a user'),
  created_at_gte: moment('Created at this time or later'),
  created_at_lte: moment('Created at this time or earlier'),
  feature_id_in: ids('Clients with one of these features activated'),
  personal_product_availability: wire.OptionalText({
    maxLength: 100,
    pattern: `^(${accountsSchema.SERVICES.join('|')})(,(${accountsSchema.SERVICES.join('|')}))*$`,
    rule: `Must be one or more of ${accountsSchema.SERVICES.join(', ')}, separated by commas.`,
    description: 'Clients for whom the availability of one of these products was decided; separated by commas',
    examples: ['CLOUD'],
  }),
  is_test: flag('Whether the client is for tests'),
  client_type: wire.OptionalChoice(CLIENT_TYPES, 'Kind of the client'),
  promocode: text('No client has one, so nothing matches'),
  country_code: text('ISO 3166 code of the country'),
});
export type ClientListQuery = Static<typeof ClientListQuery>;

export const ClientPage = wire.Named('ClientPage', { ...wire.pageFields, results: Type.Array(Client) });
export type ClientPage = Static<typeof ClientPage>;
/** The type distinguishes the two: an array, or an object. */
export const ClientList = Type.Union([Type.Array(Client), ClientPage], { title: 'ClientList' });
