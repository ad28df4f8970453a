import { Link } from '@tanstack/react-router';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { wordsIn } from '../../lib/changes.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { given } from '../../lib/search.ts';
import { useWho } from '../../lib/session.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Unread } from '../../ui/fault.tsx';
import { CheckField, type Form, NumberField, SelectField, TextField } from '../../ui/field.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { Table } from '../../ui/table.tsx';
import { ROLES } from './tokens.tsx';

const PROVIDERS = '/tradewind/v1/identity_providers';
const PROVIDER = '/tradewind/v1/identity_providers/{provider_id}';
const POLICY = '/tradewind/v1/clients/{client_id}/sign_in_policy';

export function SignIn() {
  const { clientId } = useWho();
  return (
    <Page
      title="Sign-in"
      actions={
        <>
          <NewProvider />
          <AsCode
            calls={[callOf('get', PROVIDERS, {}), callOf('get', POLICY, { params: { path: { client_id: clientId } } })]}
          />
        </>
      }
    >
      <Providers />
      <SecondFactors />
    </Page>
  );
}

type Provider = components['schemas']['IdentityProvider'];
type Group = Omit<Provider['groups'][number], 'client_id'> & { client_id?: number | undefined };

const GROUP: Group = { group: '', role: 'Users' };
/** What the form of a new one begins with. Several words are typed with spaces between them. */
const NEW = {
  name: '',
  issuer: '',
  oidc_client_id: '',
  oidc_client_secret: '',
  email_domains: '',
  groups: [GROUP],
  default_role: null as Provider['default_role'],
  groups_claim: 'groups',
  scopes: 'openid profile email',
  required: false,
  for_reseller: false,
};
type Fields = typeof NEW;

const fieldsOf = (provider: Provider): Fields => ({
  ...provider,
  oidc_client_secret: '',
  email_domains: provider.email_domains.join(' '),
  scopes: provider.scopes.join(' '),
  for_reseller: provider.client_id === null,
});

/** An empty secret is one that stays. */
const bodyOf = ({ oidc_client_secret, email_domains, groups, scopes, required, default_role, ...fields }: Fields) => ({
  ...fields,
  ...(!fields.for_reseller && { required, default_role }),
  ...given({ oidc_client_secret }),
  email_domains: wordsIn(email_domains.toLowerCase()),
  groups: groups.map(({ client_id, ...one }) => ({ ...one, ...given({ client_id }) })),
  scopes: wordsIn(scopes),
});

/** Of what is sent, what was changed. */
const changesOf = (values: Fields, changed: Partial<Fields>) =>
  Object.fromEntries(Object.entries(bodyOf(values)).filter(([name]) => name in changed)) as Partial<
    ReturnType<typeof bodyOf>
  >;

function NewProvider() {
  const mayResell = useRefusal()('listClients') === undefined;
  return (
    <FormDrawer
      operation="createIdentityProvider"
      label="Create an identity provider"
      title="Create an identity provider"
      tone="primary"
      initial={NEW}
      apply="Create"
      call={(values) => callOf('post', PROVIDERS, { body: bodyOf(values) })}
    >
      {(form) => (
        <>
          {mayResell && (
            <CheckField label="For all clients, and not for this account" {...form.field('for_reseller')} />
          )}
          <ProviderFields {...form} />
        </>
      )}
    </FormDrawer>
  );
}

function ProviderFields({ values, set, faults, field, old }: Form<Fields> & { old?: Provider }) {
  return (
    <>
      <TextField label="Name" required maxLength={100} {...field('name')} help="People know it by this name." />
      <TextField
        label="Issuer"
        type="url"
        required
        placeholder="https://login.example.com"
        {...field('issuer')}
        help={old ? FORGETS : 'The address that the provider names in its tokens.'}
      />
      <TextField label="Client ID" required autoComplete="off" {...field('oidc_client_id')} help={old && FORGETS} />
      <TextField
        label="Client secret"
        type="password"
        autoComplete="new-password"
        {...field('oidc_client_secret')}
        help={
          old?.has_client_secret ? 'Leave it empty to keep the present one.' : 'It is stored encrypted and never shown.'
        }
      />
      <TextField
        label="Domains of e-mail addresses"
        required
        placeholder="example.com"
        {...field('email_domains')}
        help="Separated by spaces. Only people with such an address can join."
      />
      <Groups values={values} set={set} faults={faults.groups} />
      {!values.for_reseller && (
        <>
          <SelectField
            label="People in none of the groups"
            options={[{ value: '', text: 'stay out' }, ...ROLES]}
            value={values.default_role ?? ''}
            onChange={(role) => set({ default_role: (role || null) as Fields['default_role'] })}
            faults={faults.default_role}
          />
          <CheckField
            label="No more passwords in this account"
            {...field('required')}
            help="Administrators with a second factor can still use theirs."
          />
        </>
      )}
      <details>
        <summary>Scopes and claim</summary>
        <TextField label="Scopes" {...field('scopes')} help="Separated by spaces." />
        <TextField label="Claim with the groups" {...field('groups_claim')} />
      </details>
    </>
  );
}

const FORGETS = 'If you change it, its people are signed out, and count as new ones when they come again.';

/** Which groups of the provider get in, and as what. */
function Groups({
  values: { groups, for_reseller },
  set,
  faults,
}: Pick<Form<Fields>, 'values' | 'set'> & { faults: readonly string[] | undefined }) {
  const change = (at: number, part: Partial<Group>) =>
    set({ groups: groups.map((one, place) => (place === at ? { ...one, ...part } : one)) });
  return (
    <fieldset className="part">
      <legend>Groups</legend>
      <p className="help">Each sign-in sets the role. Of several groups, the highest role counts.</p>
      {faults && (
        <p className="fault" role="alert">
          {faults.join(' ')}
        </p>
      )}
      {groups.map(({ group, role, client_id }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a group is its place in the list
        <div key={at} className="entry">
          <TextField label={`Group ${at + 1}`} required value={group} onChange={(group) => change(at, { group })} />
          <SelectField
            label={`Role of group ${at + 1}`}
            options={ROLES}
            value={role}
            onChange={(role) => change(at, { role: role as Group['role'] })}
          />
          {for_reseller && (
            <NumberField
              label={`Client ID of group ${at + 1}`}
              required
              min={1}
              value={client_id}
              onChange={(client_id) => change(at, { client_id })}
            />
          )}
          <button
            type="button"
            className="button quiet"
            onClick={() => set({ groups: groups.filter((_, place) => place !== at) })}
          >
            Remove group {at + 1}
          </button>
        </div>
      ))}
      <div>
        <button type="button" className="button" onClick={() => set({ groups: [...groups, GROUP] })}>
          Add a group
        </button>
      </div>
    </fieldset>
  );
}

function Providers() {
  const read = $api.useQuery('get', PROVIDERS, {});
  const address = read.data?.public_url;
  const callback = `${address}/tradewind/v1/sign_in/callback`;
  return (
    <Section title="Single sign-on">
      <div className="inside">
        <p className="muted">
          People sign in with their company’s account, by OpenID Connect. The first sign-in makes a user here.
        </p>
        {address && (
          <dl className="facts">
            <dt>Callback address, for the provider</dt>
            <dd className="row">
              <code className="name">{callback}</code> <Copy text={callback} label="Copy the callback address" />
            </dd>
          </dl>
        )}
        {address === null && (
          <p className="note warn">
            Nobody can sign in this way until the operator of the server sets TRADEWIND_PUBLIC_URL.
          </p>
        )}
      </div>
      <Table
        caption="Identity providers, the oldest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Name',
            show: ({ name, issuer, client_id }) => (
              <>
                {name}
                {client_id === null && ', for all clients'}
                <br />
                <code className="muted">{issuer}</code>
              </>
            ),
          },
          {
            name: 'Groups',
            show: ({ groups, client_id: of }) => (
              <ul>
                {groups.map(({ group, role, client_id }) => (
                  <li key={`${group} ${role} ${client_id}`}>
                    {group}: {role}
                    {of === null && `, client ${client_id}`}
                  </li>
                ))}
              </ul>
            ),
          },
          {
            name: 'State',
            show: ({ enabled, required }) => (
              <span className={`badge ${enabled ? 'good' : 'bad'}`}>
                {enabled ? `on${required ? ', required' : ''}` : 'off'}
              </span>
            ),
          },
          {
            name: 'People sign in at',
            show: ({ name, sign_in_path: path }) => (
              <span className="row">
                <code className="name">{`${address ?? ''}${path}`}</code>
                <Copy text={`${address ?? ''}${path}`} label={`Copy the address for people of ${name}`} />
              </span>
            ),
          },
          { name: 'Actions', show: (provider) => <Actions of={provider} /> },
        ]}
        empty={<p>There is none: people sign in with passwords.</p>}
      />
    </Section>
  );
}

function Actions({ of }: { of: Provider }) {
  const { id, name, enabled } = of;
  const params = { path: { provider_id: id } };
  return (
    <span className="row">
      <FormDrawer
        operation="updateIdentityProvider"
        label="Change"
        title={`Change ${name}`}
        initial={fieldsOf(of)}
        apply="Change"
        edits
        call={(...of) => callOf('patch', PROVIDER, { params, body: changesOf(...of) })}
      >
        {(form) => <ProviderFields {...form} old={of} />}
      </FormDrawer>
      <Review
        operation="updateIdentityProvider"
        label={enabled ? 'Switch off' : 'Switch on'}
        title={`Switch ${name} ${enabled ? 'off' : 'on'}?`}
        call={() => callOf('patch', PROVIDER, { params, body: { enabled: !enabled } })}
      >
        <p>
          {enabled ? 'The logins of its people end. They can’t sign in until it is on again.' : 'People can sign in.'}
        </p>
      </Review>
      <Review
        operation="deleteIdentityProvider"
        label="Delete"
        tone="danger"
        title={`Delete ${name}?`}
        call={() => callOf('delete', PROVIDER, { params })}
      >
        <p>
          The logins of its people end. The users stay, with their roles, but without a password: they can ask for one
          by mail. Their API tokens keep working. Remove those who have left under{' '}
          <Link to="/account/users">Users</Link>.
        </p>
      </Review>
    </span>
  );
}

const WHOM = [
  { value: 'nobody', text: 'Nobody' },
  { value: 'Administrators', text: 'Administrators' },
  { value: 'everybody', text: 'Everybody' },
];

/** Who needs a second factor to sign in with a password. */
function SecondFactors() {
  const { clientId } = useWho();
  const params = { path: { client_id: clientId } };
  const read = $api.useQuery('get', POLICY, { params });
  if (!read.data) return <Unread error={read.error} again={read.refetch} />;
  const { second_factor, roles } = read.data;
  const whom = second_factor === 'optional' ? 'nobody' : roles.join(', ') || 'everybody';
  return (
    <Section title="Second factors">
      <div className="inside row">
        <span>
          A second factor beside the password is required of <strong>{whom}</strong>.{' '}
          <Link to="/account/users">Users</Link> shows who has one.
        </span>
        <FormDrawer
          operation="setSignInPolicy"
          label="Change"
          title="Require a second factor"
          initial={{ whom }}
          apply="Require it"
          edits
          call={(values) =>
            callOf('put', POLICY, {
              params,
              body:
                values.whom === 'nobody'
                  ? { second_factor: 'optional' }
                  : {
                      second_factor: 'required',
                      roles: values.whom === 'everybody' ? [] : (values.whom.split(', ') as typeof roles),
                    },
            })
          }
          onApplied={() => void read.refetch()}
        >
          {({ field }) => (
            <SelectField
              label="Of whom"
              options={WHOM.some(({ value }) => value === whom) ? WHOM : [...WHOM, { value: whom, text: whom }]}
              {...field('whom')}
              help="Whoever has none adds one at the next sign-in. API tokens need none."
            />
          )}
        </FormDrawer>
      </div>
    </Section>
  );
}
