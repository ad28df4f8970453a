import { type SubmitEvent, useState } from 'react';
import { $api, ApiError, send } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { signIn } from '../../lib/hub.ts';
import { useWho } from '../../lib/session.ts';
import { Action } from '../../ui/action.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Fault } from '../../ui/fault.tsx';
import { TextField, useForm } from '../../ui/field.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Section } from '../../ui/page.tsx';
import { usePaging } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { SecondFactors } from './second-factors.tsx';

export function Logins() {
  const params = { query: usePaging() };
  const read = $api.useQuery('get', '/tradewind/v1/logins', { params });
  const { clientId, acting } = useWho();
  const inPerson = read.data?.results.some(({ current, token_id }) => current && token_id === null);
  return (
    <ListPage
      title="Your logins"
      caption="Your logins, the newest first"
      call={callOf('get', '/tradewind/v1/logins', { params })}
      read={read}
      keyOf={({ id }) => id}
      actions={
        <Review
          operation="endOwnLogins"
          label="Log out everywhere"
          tone="danger"
          title="Log out everywhere?"
          call={() => callOf('delete', '/tradewind/v1/logins', {})}
        >
          <p>
            Every browser and program that you are logged in with has to log in again, also this one. API tokens keep
            working.
          </p>
        </Review>
      }
      columns={[
        {
          name: 'Login',
          show: ({ id, current }) => (
            <span className="row">
              <code>{id}</code> {current && <span className="badge good">this one</span>}
            </span>
          ),
        },
        {
          name: 'In',
          show: ({ client_id, user_id, made_by }) =>
            `${client_id === clientId ? 'this account' : `account ${client_id}`}${user_id === made_by ? '' : `, as user ${user_id}`}`,
        },
        { name: 'Made with', show: ({ token_id }) => (token_id === null ? 'password or code' : `token ${token_id}`) },
        { name: 'Since', show: ({ created_at }) => <Time at={created_at} /> },
        { name: 'Ends', show: ({ expires_at }) => <Time at={expires_at} /> },
        {
          name: 'Actions',
          show: ({ id, current }) => (
            <Review
              operation="endOwnLogin"
              label="End"
              tone="danger"
              title={`End login ${id}?`}
              call={() => callOf('delete', '/tradewind/v1/logins/{login_id}', { params: { path: { login_id: id } } })}
            >
              <p>{current ? 'You have to sign in again here.' : 'Its next request is refused.'}</p>
            </Review>
          ),
        },
      ]}
      empty="You are not logged in anywhere."
      below={
        !acting && (
          <>
            {inPerson && <SecondFactors />}
            <Password />
          </>
        )
      }
    >
      {read.data?.results.some(({ current, token_id }) => current && token_id !== null) && (
        <p className="note">
          This login was made with an API token, so it sees and ends only itself. Sign in with your password for all of
          them.
        </p>
      )}
    </ListPage>
  );
}

const EMPTY = { old: '', new: '', double: '' };

/** Isn't reviewed: there is nothing to see before, and the code of the request would show the passwords. */
function Password() {
  const { userId, email } = useWho();
  const said = useToasts();
  const { values, field, reset, take } = useForm(EMPTY);
  const [refused, setRefused] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const path = `/iam/users/${userId}/password`;

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    setBusy(true);
    setRefused(undefined);
    reset(values);
    try {
      await send({ method: 'PUT', path, body: values });
      reset();
      // It has ended this login, too.
      const again = await signIn({ username: email, password: values.new }).catch(() => undefined);
      said.add(
        again?.status === 200
          ? { title: 'Password changed', description: 'All other logins have ended.', type: 'good' }
          : { title: 'Password changed', description: 'Sign in again with the new one.', type: 'warn', timeout: 0 },
      );
    } catch (error) {
      if (!(error instanceof ApiError && take(error))) setRefused(error as Error);
    } finally {
      setBusy(false);
    }
  }
  const password = { type: 'password', required: true } as const;
  return (
    <Section title="Change your password">
      <form className="form inside" onSubmit={(event) => void submit(event)}>
        {refused && <Fault error={refused} />}
        <TextField label="Present password" {...password} {...field('old')} />
        <TextField
          label="New password"
          {...password}
          {...field('new')}
          help="All your other logins end. API tokens keep working."
        />
        <TextField label="New password again" {...password} {...field('double')} />
        <div className="row">
          <Action
            operation="changePassword"
            type="submit"
            tone="primary"
            disabled={busy ? 'It is being sent' : undefined}
          >
            Change password
          </Action>
          <AsCode calls={[{ method: 'PUT', path, body: { old: '…', new: '…', double: '…' } }]} />
        </div>
      </form>
    </Section>
  );
}
