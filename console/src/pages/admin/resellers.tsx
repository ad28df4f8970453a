import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { given, useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page } from '../../ui/page.tsx';
import { NextPages, PAGE_SIZE } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const PATH = '/tradewind/v1/resellers';

export function Resellers() {
  const { page_token } = useFilters();
  const [secret, setSecret] = useState<string>();
  const params = { query: { limit: PAGE_SIZE, ...given({ page_token }) } };
  const read = $api.useQuery('get', PATH, { params });
  return (
    <Page
      title="Resellers"
      actions={
        <>
          <FormDrawer
            operation="createReseller"
            label="Create reseller"
            title="Create a reseller"
            tone="primary"
            initial={{ name: '', email: '' }}
            apply="Create"
            call={({ name, email }) => callOf('post', PATH, { body: { name, ...(email && { email }) } })}
            onApplied={(answer) => setSecret((answer as { token: string }).token)}
          >
            {({ field }) => (
              <>
                <TextField
                  label="Name"
                  required
                  {...field('name')}
                  help="It begins with an account of its own, and an API token that manages its clients."
                />
                <TextField label="E-mail address of its administrator" type="email" {...field('email')} />
              </>
            )}
          </FormDrawer>
          <AsCode calls={[callOf('get', PATH, { params })]} />
        </>
      }
    >
      <Table
        caption="Resellers"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Name', show: ({ name }) => name },
          { name: 'ID', show: ({ id }) => <code>{id}</code> },
          {
            name: 'Own account',
            show: ({ client_id }) =>
              client_id !== null && (
                <Link to="/admin/clients/$client" params={{ client: String(client_id) }}>
                  {client_id}
                </Link>
              ),
          },
          {
            name: 'Clients',
            show: ({ id, clients }) => (
              <Link to="/admin/clients" search={{ reseller_id: String(id) } as never}>
                {clients}
              </Link>
            ),
          },
          { name: 'Since', show: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Actions',
            show: ({ id, name }) => (
              <span className="row">
                <Link to="/admin/notifications" search={{ reseller: String(id) } as never} className="button">
                  Notifications
                </Link>
                <Link
                  to="/account/billing"
                  search={{ tab: 'issuer', reseller_id: String(id) } as never}
                  className="button"
                >
                  Billing
                </Link>
                <Review
                  operation="deleteReseller"
                  label="Delete"
                  tone="danger"
                  title={`Delete the reseller ${name}?`}
                  call={() =>
                    callOf('delete', '/tradewind/v1/resellers/{reseller_id}', { params: { path: { reseller_id: id } } })
                  }
                >
                  <p>Its own account is deleted with it. It must have no other clients.</p>
                </Review>
              </span>
            ),
          },
        ]}
        empty={<p>There is no reseller.</p>}
      />
      <NextPages next={read.data?.next_page_token} />
      <Secret
        title="The reseller’s API token"
        value={secret}
        variable="TRADEWIND_TOKEN"
        onClose={() => setSecret(undefined)}
      />
    </Page>
  );
}
