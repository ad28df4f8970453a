import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { given, useFilters } from '../../lib/search.ts';
import { useWho } from '../../lib/session.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { ChoiceFilter, Filters } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const PATH = '/iam/v2/clients/{clientId}/tokens';
/** From the most rights to the fewest. */
export const ROLES = ['Administrators', 'Engineers', 'Users'].map((role) => ({ value: role, text: role }));

export function Tokens() {
  const { clientId } = useWho();
  const { role, deleted } = useFilters();
  const [secret, setSecret] = useState<string>();
  const params = { path: { clientId }, query: given({ role, deleted: deleted === 'true' || undefined }) };
  const read = $api.useQuery('get', PATH, { params });
  const create = (
    <FormDrawer
      operation="createApiToken"
      label="Create token"
      title="Create an API token"
      tone="primary"
      initial={{ name: '', description: '', role: 'Users', exp_date: '' }}
      apply="Create"
      call={({ name, description, role, exp_date }) =>
        callOf('post', PATH, {
          params: { path: { clientId } },
          body: {
            name,
            ...(description && { description }),
            exp_date: exp_date ? `${exp_date}T00:00:00Z` : null,
            client_user: { role: { name: role } },
          },
        })
      }
      onApplied={(answer) => setSecret((answer as { token: string }).token)}
    >
      {({ field }) => (
        <>
          <TextField label="Name" required {...field('name')} help="What uses it, such as “deployments”." />
          <TextField label="Description" {...field('description')} />
          <SelectField
            label="Role"
            options={ROLES}
            {...field('role')}
            help="Users look, Engineers also change the cloud, Administrators do all. The token acts for you, and never has more rights than you."
          />
          <TextField
            label="Expires"
            type="date"
            {...field('exp_date')}
            help="At the beginning of this day in UTC. Without a day, it works until it is deleted."
          />
        </>
      )}
    </FormDrawer>
  );
  return (
    <Page
      title="API tokens"
      actions={
        <>
          {create}
          <AsCode calls={[callOf('get', PATH, { params })]} />
        </>
      }
    >
      <Filters>
        <ChoiceFilter name="role" label="Role" options={ROLES} />
        <ChoiceFilter
          name="deleted"
          label="Show"
          none="tokens that work"
          options={[{ value: 'true', text: 'deleted tokens' }]}
        />
      </Filters>
      <Table
        caption="API tokens, the newest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Name',
            show: ({ name, description }) => (
              <>
                {name} {description && <span className="muted">{description}</span>}
              </>
            ),
          },
          { name: 'ID', show: ({ id }) => <code>{id}</code> },
          { name: 'Acts for', show: ({ client_user }) => client_user.user_email },
          { name: 'Role', show: ({ client_user }) => client_user.role.name },
          { name: 'Created', show: ({ created }) => <Time at={created} /> },
          {
            name: 'Last used',
            show: ({ created, last_usage }) => (last_usage === created ? 'never' : <Time at={last_usage} />),
          },
          {
            name: 'Expires',
            show: ({ exp_date, expired }) => (
              <>
                {exp_date ? <Time at={exp_date} /> : 'never'} {expired && <span className="badge bad">expired</span>}
              </>
            ),
          },
          {
            name: 'Actions',
            show: ({ id, name, deleted }) =>
              !deleted && (
                <Review
                  operation="deleteApiToken"
                  label="Delete"
                  tone="danger"
                  title={`Delete the token ${name}?`}
                  call={() =>
                    callOf('delete', '/iam/v2/clients/{clientId}/tokens/{tokenId}', {
                      params: { path: { clientId, tokenId: id } },
                    })
                  }
                >
                  <p>The next request with it is refused.</p>
                </Review>
              ),
          },
        ]}
        empty={<p>{role || deleted ? 'No token matches.' : 'There is no API token in this account.'}</p>}
      />
      <Secret title="The new token" value={secret} variable="TRADEWIND_TOKEN" onClose={() => setSecret(undefined)} />
    </Page>
  );
}
