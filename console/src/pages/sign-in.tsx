import { type SubmitEvent, useState, useSyncExternalStore } from 'react';
import { ApiError, refusalOf, send } from '../lib/api.ts';
import { callOf } from '../lib/call.ts';
import { session, signIn } from '../lib/hub.ts';
import { useSession } from '../lib/session.ts';
import { Fault } from '../ui/fault.tsx';
import { CheckField, TextField, useForm } from '../ui/field.tsx';
import type { Credentials } from '../worker/messages.ts';

interface Said {
  complaint?: string | undefined;
  /** Somebody has just joined, and may sign in now. */
  joined?: boolean;
  /** The invitation that was in the address. */
  invitation?: string | undefined;
}
let said: Said = {};
const listeners = new Set<() => void>();

/** Signing in clears what was said, so that it is not shown again after a sign-out. An invitation stays until it is answered. */
function say(next: Said): void {
  said = session.get()?.who ? { invitation: next.invitation } : next;
  for (const listener of listeners) listener();
}
session.subscribe(() => say(said));

const useSaid = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => said,
  );
export const useInvitation = () => useSaid().invitation;

/** Removes a code or an invitation from the address. A code signs in; an invitation shows the form to join. */
export function takeFragment(): void {
  const [, name, secret] = /^#(code|invitation)=([\w-]+)$/.exec(location.hash) ?? [];
  if (secret === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  if (name === 'invitation') say({ invitation: secret });
  else void enter({ code: secret });
}

async function enter(credentials: Credentials): Promise<void> {
  say({});
  try {
    const response = await signIn(credentials);
    if (response.status !== 200) say({ complaint: (await refusalOf(response)).message });
  } catch (error) {
    say({ complaint: (error as Error).message });
  }
}

/** The field appears where somebody has asked for it. */
const focus = (field: HTMLInputElement | null) => field?.focus();

export function SignIn() {
  const [way, setWay] = useState<'password' | 'token'>('password');
  const [busy, setBusy] = useState(false);
  const { complaint, joined } = useSaid();
  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => {
      const value = given.get(name);
      return typeof value === 'string' ? value : '';
    };
    setBusy(true);
    await enter(
      way === 'token' ? { token: text('token').trim() } : { username: text('username'), password: text('password') },
    );
    setBusy(false);
  }
  return (
    <main className="gate">
      <div className="card">
        <form className="inside" onSubmit={submit}>
          <h1>Sign in to Tradewind</h1>
          {joined && (
            <p className="note good" role="status">
              You have joined. Sign in with the address that was invited and your password.
            </p>
          )}
          {complaint && (
            <p className="note bad" role="alert">
              {complaint}
            </p>
          )}
          {way === 'password' ? (
            <>
              <div className="field">
                <label htmlFor="username">E-mail address</label>
                <input id="username" name="username" className="input" autoComplete="username" required />
              </div>
              <div className="field">
                <label htmlFor="password">Password</label>
                <input
                  id="password"
                  name="password"
                  type="password"
                  className="input"
                  autoComplete="current-password"
                  required
                />
              </div>
            </>
          ) : (
            <div className="field">
              <label htmlFor="token">API token</label>
              <input
                ref={focus}
                id="token"
                name="token"
                className="input mono"
                autoComplete="off"
                spellCheck={false}
                required
                aria-describedby="token-help"
              />
              <p id="token-help" className="help">
                It is used once, to sign in with no more rights than it has. The browser doesn’t keep it.
              </p>
            </div>
          )}
          <button type="submit" className="button primary" disabled={busy}>
            {busy ? 'Signing in …' : 'Sign in'}
          </button>
          <button type="button" className="button quiet" onClick={() => setWay(way === 'token' ? 'password' : 'token')}>
            {way === 'token' ? 'Use a password instead' : 'Use an API token instead'}
          </button>
          <p className="muted">
            Do you run this server? <code>npx tradewind console</code> prints an address that signs you in.
          </p>
        </form>
      </div>
    </main>
  );
}

/** The form to join an account by an invitation. Signed-in people see it, too. */
export function Join({ invitation }: { invitation: string }) {
  const { values, field, take } = useForm({ password: '' });
  const [shown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Error>();
  const email = useSession()?.who?.email;
  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    setRefused(undefined);
    try {
      const body = { token: invitation, ...values };
      await send(callOf('post', '/iam/auth/accept_invitation', { body }));
      say({ joined: true });
    } catch (error) {
      if (!(error instanceof ApiError && take(error))) setRefused(error as Error);
      setBusy(false);
    }
  }
  return (
    <main className="gate">
      <div className="card">
        <form className="inside" onSubmit={submit}>
          <h1>Join</h1>
          <p>
            You are invited to an account. Choose a password. If you already log in here with the invited address, give
            the password that you have.
          </p>
          {email && <p className="muted">You stay signed in as {email}.</p>}
          {refused && <Fault error={refused} />}
          <TextField
            label="Password"
            type={shown ? 'text' : 'password'}
            required
            maxLength={256}
            {...field('password')}
            help="A new one has 8 characters or more."
          />
          <CheckField label="Show the password" value={shown} onChange={setShown} />
          <button type="submit" className="button primary" disabled={busy}>
            {busy ? 'Joining …' : 'Join'}
          </button>
          <button type="button" className="button quiet" onClick={() => say({})}>
            Not now
          </button>
        </form>
      </div>
    </main>
  );
}
