import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api, refusalOf } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { actAs } from '../../lib/hub.ts';
import { given, useFilters } from '../../lib/search.ts';
import { useWho } from '../../lib/session.ts';
import { Action } from '../../ui/action.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { Fault } from '../../ui/fault.tsx';
import { TextField } from '../../ui/field.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { usePaging } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';

const ORDERS = [
  { value: 'companyName', text: 'by name' },
  { value: '-created_at', text: 'newest first' },
];

interface ClientRow {
  id: number;
  companyName: string;
  email: string;
  status: string;
  deleted: boolean;
}

export function Clients() {
  const { companyName, users_email, deleted = 'false', cloud, reseller_id, ordering } = useFilters();
  const navigate = useNavigate();
  const params = {
    query: {
      ...usePaging(),
      deleted,
      ...given({
        companyName,
        users_email,
        cloud: cloud as 'active',
        reseller_id: reseller_id ? Number(reseller_id) : undefined,
        ordering,
      }),
    },
  };
  const read = $api.useQuery('get', '/iam/clients', { params });
  // With a limit, the answer is a page.
  const data = read.data as { count: number; results: ClientRow[] } | undefined;
  return (
    <ListPage
      title="Clients"
      call={callOf('get', '/iam/clients', { params })}
      read={{ ...read, data }}
      keyOf={({ id }) => id}
      actions={
        <FormDrawer
          operation="createClient"
          label="Create client"
          title="Create a client"
          tone="primary"
          initial={{ company: '' }}
          apply="Create"
          call={(body) => callOf('post', '/iam/clients/create', { body })}
          onApplied={(answer) =>
            void navigate({
              to: '/admin/clients/$client',
              params: { client: String((answer as { id: number }).id) },
            })
          }
        >
          {({ field }) => (
            <TextField
              label="Company"
              required
              {...field('company')}
              help="It begins with a default project. Its page opens next: there you can invite its administrator."
            />
          )}
        </FormDrawer>
      }
      filters={
        <>
          <TextFilter name="companyName" label="Company" />
          <TextFilter name="users_email" label="Address of a user" />
          <TextFilter name="reseller_id" label="Reseller ID" />
          <ChoiceFilter name="cloud" label="Cloud" options={optionsOf(['active', 'paused', 'new', 'trial'])} />
          <ChoiceFilter
            name="deleted"
            label="Deleted"
            none="without these"
            options={[
              { value: 'true', text: 'only these' },
              { value: 'any', text: 'these, too' },
            ]}
          />
          <ChoiceFilter name="ordering" label="Order" none="oldest first" options={ORDERS} />
        </>
      }
      columns={[
        {
          name: 'Company',
          show: ({ id, companyName }) => (
            <Link to="/admin/clients/$client" params={{ client: String(id) }}>
              {companyName}
            </Link>
          ),
        },
        { name: 'ID', show: ({ id }) => <code>{id}</code> },
        { name: 'E-mail address', show: ({ email }) => email },
        { name: 'Status', show: ({ status, deleted }) => <State of={deleted ? 'deleted' : status} /> },
        { name: 'Actions', show: ({ id, companyName }) => <ActAs id={id} name={companyName} /> },
      ]}
      empty="No client matches."
    />
  );
}

/** Shows the console as the administrator of the client sees it, until one goes back: that page of it. */
export function ActAs({ id, name, to = '/', says }: { id: number; name: string; to?: string; says?: ReactNode }) {
  const { clientId, acting } = useWho();
  const navigate = useNavigate();
  const [refused, setRefused] = useState<Error>();
  async function begin() {
    setRefused(undefined);
    try {
      const answer = await actAs(id);
      if (answer.status === 200) void navigate({ to: to as '/' });
      else setRefused(await refusalOf(answer));
    } catch (error) {
      setRefused(error as Error);
    }
  }
  const why = acting ? 'Go back to your own account first' : id === clientId ? 'This is your own account' : undefined;
  return (
    <>
      <Action operation="loginAsAdministrator" disabled={why} onClick={() => void begin()}>
        {says ?? <>Act for {name}</>}
      </Action>
      {refused && <Fault error={refused} />}
    </>
  );
}
