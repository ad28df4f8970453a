import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { emptyAsNull } from '../../lib/changes.ts';
import { usePermissions, useRefusal } from '../../lib/permissions.ts';
import { useWho } from '../../lib/session.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page, Section, UnreadPage } from '../../ui/page.tsx';
import { Pages, usePaging } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { ROLES } from './tokens.tsx';

const TABS = { users: 'Users', attempts: 'Login attempts' };

export function Users() {
  const tab = useTab(TABS);
  const { clientId } = useWho();
  const query = usePaging();
  return (
    <Page
      title="Users"
      actions={
        <>
          <Invite clientId={clientId} />
          <AsCode
            calls={[callOf('get', tab === 'users' ? '/iam/users' : '/iam/activity_log/logins', { params: { query } })]}
          />
        </>
      }
    >
      <Tabs tabs={TABS} label="Parts of the page" />
      {tab === 'users' ? <UserList query={query} /> : <Attempts query={query} />}
    </Page>
  );
}

/** Invites somebody to an account, and shows the invitation once. */
export function Invite({
  clientId,
  label = 'Invite a user',
  usualRole = 'Users',
}: {
  clientId: number;
  label?: string;
  /** The one that is chosen at first. */
  usualRole?: string;
}) {
  const [invitation, setInvitation] = useState<string>();
  return (
    <>
      <FormDrawer
        operation="inviteUser"
        label={label}
        title={label}
        tone="primary"
        initial={{ email: '', name: '', role: usualRole }}
        apply="Invite"
        call={({ email, name, role }) =>
          callOf('post', '/iam/clients/invite_user', {
            body: { email, ...(name && { name }), user_role: { name: role }, client_id: clientId },
          })
        }
        onApplied={(answer) => setInvitation((answer as { invitation_token?: string }).invitation_token)}
      >
        {({ field }) => (
          <>
            <TextField
              label="E-mail address"
              type="email"
              required
              {...field('email')}
              help="The invitation is sent there. The page also shows it, for servers that send no mail."
            />
            <TextField label="Name" {...field('name')} />
            <SelectField
              label="Role"
              options={ROLES}
              {...field('role')}
              help="Administrators may do everything, engineers change resources, users look at them."
            />
          </>
        )}
      </FormDrawer>
      <Secret
        title="The invitation"
        label="Address"
        note="Give the address to the person you invited, and to nobody else: whoever opens it can join."
        value={invitation && `${location.origin}/console/#invitation=${invitation}`}
        onClose={() => setInvitation(undefined)}
      />
    </>
  );
}

interface ListProps {
  query: ReturnType<typeof usePaging>;
}

function UserList({ query }: ListProps) {
  const { userId } = useWho();
  const read = $api.useQuery('get', '/iam/users', { params: { query } });
  return (
    <>
      <Table
        caption="Users, in the order in which they were created"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'E-mail address',
            show: ({ id, email }) => (
              <span className="row">
                <Link to="/account/users/$user" params={{ user: String(id) }}>
                  {email}
                </Link>
                {id === userId && <span className="badge">you</span>}
              </span>
            ),
          },
          { name: 'Name', show: ({ name }) => name },
          { name: 'ID', show: ({ id }) => <code>{id}</code> },
          {
            name: 'Accounts and roles',
            show: ({ client_and_roles }) =>
              client_and_roles
                .map(({ client_company_name, user_roles }) => `${client_company_name}: ${user_roles.join(', ')}`)
                .join('; '),
          },
          {
            name: 'Second factor',
            show: ({ two_fa, sso_auth }) => (two_fa ? 'yes' : sso_auth ? 'left to the provider' : 'no'),
          },
          {
            name: 'State',
            show: ({ is_active, activated }) =>
              is_active ? (
                <span className="badge good">{activated ? 'active' : 'active, without a password'}</span>
              ) : (
                <span className="badge bad">blocked</span>
              ),
          },
        ]}
        empty={<p>There is no user that you may see.</p>}
      />
      <Pages count={read.data?.count ?? 0} />
    </>
  );
}

const WITH: Record<string, string> = {
  password: 'password',
  totp: 'code of an app',
  recovery_code: 'recovery code',
  passkey: 'passkey',
};

function Attempts({ query }: ListProps) {
  const read = $api.useQuery('get', '/iam/activity_log/logins', { params: { query } });
  return (
    <>
      <Table
        caption="Attempts to log in, the newest first"
        read={{ ...read, data: read.data?.result }}
        keyOf={({ id }) => id}
        columns={[
          { name: 'When', show: ({ created_at }) => <Time at={created_at} /> },
          { name: 'As', show: ({ username }) => username },
          { name: 'With', show: ({ auth_type }) => WITH[auth_type] ?? auth_type },
          {
            name: 'Result',
            show: ({ successful }) => (
              <span className={`badge ${successful ? 'good' : 'bad'}`}>{successful ? 'right' : 'wrong'}</span>
            ),
          },
          { name: 'From', show: ({ ip_address }) => <code>{ip_address}</code> },
          { name: 'Program', show: ({ user_agent }) => <span className="muted">{user_agent}</span> },
        ]}
        empty={<p>Nobody has tried to log in in the last 90 days.</p>}
      />
      <Pages count={read.data?.count ?? 0} />
    </>
  );
}

/** For somebody who lost them. */
function ResetFactors({ userId, email, has }: { userId: number; email: string; has: boolean }) {
  const isOwn = useWho().userId === userId;
  const params = { path: { user_id: userId } };
  return (
    <Review
      operation="resetSecondFactors"
      label="Reset second factors"
      disabled={has ? (isOwn ? 'Remove your own under “Your logins”' : undefined) : 'The user has none'}
      title={`Remove the second factors of ${email}?`}
      call={() => callOf('delete', '/tradewind/v1/users/{user_id}/second_factors', { params })}
    >
      <p>For somebody who lost them: the password alone signs them in again. All their logins end.</p>
    </Review>
  );
}

export function UserPage() {
  const { user } = useParams({ from: '/account/users/$user' });
  const userId = Number(user);
  const navigate = useNavigate();
  const { clientId, userId: own } = useWho();
  const refusal = useRefusal();
  const inPerson = usePermissions().data?.in_person;
  const params = { path: { userId } };
  const read = $api.useQuery('get', '/iam/users/{userId}', { params });
  const membership = { params: { path: { clientId, userId } } };
  const member = $api.useQuery('get', '/iam/clients/{clientId}/client-users/{userId}', membership);
  const isOwn = userId === own;
  const refused = refusal('updateClientUser');
  const mayLeave = isOwn && inPerson;
  if (!read.data) return <UnreadPage title="User" error={read.error} again={read.refetch} />;
  const { email, name, phone, lang, is_active, two_fa } = read.data;
  const role = member.data?.user_role.name ?? '';
  return (
    <Page
      title={email}
      crumbs={[
        <Link key="users" to="/account/users">
          Users
        </Link>,
        <code key="id">{userId}</code>,
      ]}
      actions={
        <>
          <FormDrawer
            operation="updateUser"
            label="Change"
            disabled={isOwn ? undefined : refused}
            title={`Change ${email}`}
            initial={{ name: name ?? '', phone: phone ?? '' }}
            apply="Change"
            edits
            call={(_, changed) => callOf('patch', '/iam/users/{userId}', { params, body: emptyAsNull(changed) })}
          >
            {({ field }) => (
              <>
                <TextField label="Name" {...field('name')} />
                <TextField label="Phone" {...field('phone')} />
              </>
            )}
          </FormDrawer>
          <Review
            operation="updateUser"
            label={is_active ? 'Block' : 'Unblock'}
            disabled={isOwn ? 'You can’t block yourself' : refused}
            title={`${is_active ? 'Block' : 'Unblock'} ${email}?`}
            call={() => callOf('patch', '/iam/users/{userId}', { params, body: { is_active: !is_active } })}
          >
            <p>
              {is_active ? 'The user’s logins and API tokens are refused from then on.' : 'The user may log in again.'}
            </p>
          </Review>
          <ResetFactors userId={userId} email={email} has={two_fa} />
          <Review
            operation="removeClientUser"
            label={isOwn ? 'Leave' : 'Remove'}
            tone="danger"
            title={isOwn ? 'Leave the account?' : `Remove ${email} from the account?`}
            disabled={mayLeave ? undefined : refused}
            call={() => callOf('delete', '/iam/clients/{clientId}/client-users/{userId}', membership)}
            onApplied={() => void navigate({ to: '/account/users' })}
          >
            <p>Somebody who belongs to no other account is deleted. Delete the user’s API tokens first.</p>
          </Review>
          <AsCode
            calls={[
              callOf('get', '/iam/users/{userId}', { params }),
              callOf('get', '/iam/clients/{clientId}/client-users/{userId}', membership),
              callOf('get', '/cloud/v1/users/assignments', { params: { query: { user_id: userId } } }),
            ]}
          />
        </>
      }
    >
      <div className="card">
        <dl className="facts inside">
          <dt>Name</dt>
          <dd>{name ?? '–'}</dd>
          <dt>Phone</dt>
          <dd>{phone ?? '–'}</dd>
          <dt>Language</dt>
          <dd>{lang}</dd>
          <dt>State</dt>
          <dd>{is_active ? 'active' : 'blocked'}</dd>
          <dt>Second factor</dt>
          <dd>{two_fa ? 'yes' : 'no'}</dd>
          <dt>Role in this account</dt>
          <dd className="row">
            {member.error && !member.data ? 'not a member' : role}
            {member.data && (
              <FormDrawer
                operation="updateClientUser"
                label="Change the role"
                title={`Change the role of ${email}`}
                initial={{ role }}
                apply="Change"
                call={(values) =>
                  callOf('put', '/iam/clients/{clientId}/client-users/{userId}', {
                    ...membership,
                    body: { user_role: { name: values.role } },
                  })
                }
              >
                {({ field }) => (
                  <SelectField
                    label="Role"
                    options={ROLES}
                    {...field('role')}
                    help="Takes effect on logins and API tokens at once."
                  />
                )}
              </FormDrawer>
            )}
          </dd>
        </dl>
      </div>
      <Assignments userId={userId} />
    </Page>
  );
}

function Assignments({ userId }: { userId: number }) {
  const { clientId } = useWho();
  const params = { query: { user_id: userId, limit: 1000 } };
  const read = $api.useQuery('get', '/cloud/v1/users/assignments', { params });
  const roles = $api.useQuery('get', '/cloud/v1/users/roles', {});
  const projects = $api.useQuery('get', '/cloud/v1/projects', { params: { query: { limit: 1000 } } });
  const nameOf = (id: number | null | undefined) =>
    id === null || id === undefined
      ? 'the whole account'
      : (projects.data?.results.find((one) => one.id === id)?.name ?? `project ${id}`);
  return (
    <Section
      title="Roles in the cloud"
      aside={
        <>
          <span className="muted">
            With roles in projects, a user has these rights there and none elsewhere. Without any, the role in the
            account counts.
          </span>
          <FormDrawer
            operation="createRoleAssignment"
            label="Assign a role"
            title="Assign a role"
            initial={{ role: 'Observer', project_id: '' }}
            apply="Assign"
            call={({ role, project_id }) =>
              callOf('post', '/cloud/v1/users/assignments', {
                body: {
                  user_id: userId,
                  role: role as 'Observer',
                  client_id: clientId,
                  ...(project_id && { project_id: Number(project_id) }),
                },
              })
            }
          >
            {({ field }) => (
              <>
                <SelectField
                  label="Role"
                  options={(roles.data?.results ?? []).map(({ role, scope }) => ({
                    value: role,
                    text: scope === 'Client' ? `${role} (whole account)` : role,
                  }))}
                  {...field('role')}
                />
                <SelectField
                  label="Project"
                  options={[
                    { value: '', text: 'the whole account' },
                    ...(projects.data?.results ?? []).map(({ id, name }) => ({ value: String(id), text: name })),
                  ]}
                  {...field('project_id')}
                />
              </>
            )}
          </FormDrawer>
        </>
      }
    >
      <Table
        caption="Roles of the user in projects"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Role', show: ({ role }) => role },
          { name: 'In', show: ({ project_id }) => nameOf(project_id) },
          { name: 'Assigned', show: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Actions',
            show: ({ id, role, project_id }) => (
              <Review
                operation="deleteRoleAssignment"
                label="Take back"
                tone="danger"
                title={`Take back ${role} in ${nameOf(project_id)}?`}
                call={() =>
                  callOf('delete', '/cloud/v1/users/assignments/{assignment_id}', {
                    params: { path: { assignment_id: id } },
                  })
                }
              />
            ),
          },
        ]}
        empty={<p>The user has no roles in projects: the role in the account counts everywhere.</p>}
      />
    </Section>
  );
}
