import { type Static, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { Timestamp } from '../../lib/wire.ts';

export const SERVICES = ['CDN', 'CLOUD', 'DDOS', 'DNS', 'STORAGE', 'STREAMING'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** An object with one entry for each service. */
const perService = <T extends object>(entry: T) =>
  Object.fromEntries(SERVICES.map((service) => [service, entry])) as Record<ServiceName, T>;

const ServiceStatus = Type.Object(
  {
    status: Type.Enum(['new', 'trial', 'trialend', 'active', 'paused', 'activating', 'deleted'], {
      type: 'string',
      description: '`new` for a service that this platform does not offer',
    }),
    enabled: Type.Boolean(),
  },
  { title: 'ServiceStatus' },
);

const accountFeature = {
  feature_id: Type.Integer({ description: 'Feature ID', examples: [2] }),
  service: Type.String({ examples: ['CDN'] }),
  name: Type.String({ examples: ['Origin shield'] }),
  create_date: Timestamp('When it was activated'),
};
const AccountPaidFeature = Type.Object(
  { ...accountFeature, paid_feature_id: Type.Integer({ description: 'ID of the activation' }) },
  { title: 'AccountPaidFeature' },
);
const AccountFreeFeature = Type.Object(
  { ...accountFeature, free_feature_id: Type.Integer({ description: 'ID of the activation' }) },
  { title: 'AccountFreeFeature' },
);

export const Account = Type.Object(
  {
    id: Type.Integer({ description: 'Client ID', examples: [1] }),
    email: Type.String({ description: "Address of the account's administrator" }),
    name: nullable(Type.String({ description: "Name of the account's administrator" })),
    status: Type.Enum(
      ['new', 'trial', 'trialend', 'active', 'integration', 'paused', 'preparation', 'ready'],
      { type: 'string', description: 'Always active' },
    ),
    companyName: Type.String({ examples: ['Example Ltd'] }),
    currentUser: Type.Integer({ description: 'User that the token acts for', examples: [1] }),
    capabilities: Type.Array(Type.Enum([...SERVICES], { type: 'string' }), {
      description: 'Services that the account may use',
    }),
    serviceStatuses: Type.Object(perService(ServiceStatus), { title: 'ServiceStatuses' }),
    paidFeatures: Type.Object(perService(Type.Array(AccountPaidFeature)), { title: 'AccountPaidFeatures' }),
    freeFeatures: Type.Object(perService(Type.Array(AccountFreeFeature)), { title: 'AccountFreeFeatures' }),
    entryBaseDomain: nullable(Type.String({ description: 'Always null: the platform serves one domain.' })),
    signup_process: nullable(Type.String({ description: 'Always null: accounts are made by a reseller.' })),
    deleted: Type.Boolean(),
    bill_type: Type.String({ description: 'Always common' }),
    is_test: Type.Boolean(),
    has_active_admin: Type.Boolean(),
  },
  { title: 'Account' },
);
export type Account = Static<typeof Account>;

export const CreateClient = Type.Object(
  {
    company: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '\\S',
      rule: 'Must not be empty.',
      description: 'Name of the company; several clients may have the same.',
      examples: ['Example Ltd'],
    }),
  },
  { title: 'CreateClient', additionalProperties: false, examples: [{ company: 'Example Ltd' }] },
);
export type CreateClient = Static<typeof CreateClient>;

export const CreatedClient = Type.Object(
  { id: Type.Integer({ description: 'Client ID', examples: [2] }), company: Type.String() },
  { title: 'CreatedClient' },
);
export type CreatedClient = Static<typeof CreatedClient>;
