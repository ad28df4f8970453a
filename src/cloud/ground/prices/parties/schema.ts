import { type Static, Type } from 'typebox';
import * as wire from '../../../../lib/wire.ts';

const { Array: List, Number: Num, Optional, String: Text } = Type;

const Country = (description: string) =>
  Text({ pattern: '^[A-Z]{2}$', rule: 'Must be an ISO 3166-1 code such as DE.', description, examples: ['DE'] });

const party = {
  company: Text({ minLength: 1, maxLength: 200, description: 'Name of the company', examples: ['Example GmbH'] }),
  address: Text({
    minLength: 1,
    maxLength: 500,
    description: 'Address without the company, in lines',
    examples: ['Hauptstraße 1\n10115 Berlin'],
  }),
  country: Country('Country'),
  vat_id: wire.OptionalText({
    pattern: '^[A-Z]{2}[A-Z0-9+*.]{2,18}$',
    rule: 'Must be a VAT ID such as DE123456789, without spaces.',
    description: 'VAT ID',
    examples: ['DE123456789'],
  }),
  email: wire.OptionalText({
    format: 'email',
    maxLength: 254,
    description: 'Where invoices are sent to; to administrators if left out',
    examples: ['billing@example.com'],
  }),
};
const confirmed = {
  vat_confirmed: wire.OptionalFlag({
    description:
      'Whether VAT goes by this country and VAT ID. Set by who issues the invoices; what is left out stays until either changes',
  }),
};
const issuer = {
  ...party,
  ...confirmed,
  vat_rates: List(
    wire.Input('VatRate', {
      country: Country('Where customers are'),
      percent: Num({ minimum: 0, maximum: 100, description: 'VAT they pay', examples: [19] }),
    }),
    { maxItems: 300, description: 'VAT by the country of the customer' },
  ),
  reverse_charge: Type.Boolean({
    description: 'Whether customers in other countries with a VAT ID owe the VAT themselves, and pay none here',
  }),
  invoice_prefix: Text({
    pattern: '^[A-Za-z0-9]{1,20}(-([ABD-Za-z0-9]|[A-Za-z0-9]{2,20}))?$',
    rule: 'Must be letters and digits, with one hyphen at most, and not end with -C, which credit notes have.',
    description: 'What numbers of invoices begin with',
    examples: ['INV'],
  }),
};
const since = wire.Timestamp('Since when this holds');
const reseller = wire.IntegerId(
  "The reseller; if left out the platform for its administrator, and the caller's reseller for others",
);
const client = wire.IntegerId('The account; your own if left out');

const example = {
  company: 'Example GmbH',
  address: 'Hauptstraße 1\n10115 Berlin',
  country: 'DE',
  vat_id: 'DE123456789',
};

export const IssuerQuery = wire.Query({ reseller_id: Optional(reseller) });
export type IssuerQuery = Static<typeof IssuerQuery>;
export const NewIssuer = wire.Input('NewIssuer', issuer, {
  ...example,
  vat_rates: [{ country: 'DE', percent: 19 }],
  reverse_charge: true,
  invoice_prefix: 'INV',
});
export type NewIssuer = Static<typeof NewIssuer>;
export const Issuer = wire.Named('Issuer', {
  reseller_id: wire.IntegerOrNull({ description: 'Null for the platform' }),
  ...issuer,
  vat_rates: List(wire.Named('IssuersVatRate', issuer.vat_rates.items.properties)),
  valid_from: since,
});
export type Issuer = Static<typeof Issuer>;

export const ProfileQuery = wire.Query({ client_id: Optional(client) });
export type ProfileQuery = Static<typeof ProfileQuery>;
export const NewProfile = wire.Input(
  'NewBillingProfile',
  { ...party, ...confirmed },
  { ...example, email: 'billing@example.com' },
);
export type NewProfile = Static<typeof NewProfile>;
export const Profile = wire.Named('BillingProfile', {
  client_id: Type.Integer({ description: 'The account' }),
  ...party,
  ...confirmed,
  valid_from: since,
});
export type Profile = Static<typeof Profile>;
