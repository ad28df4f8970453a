import { type SubmitEvent, useState, useSyncExternalStore } from 'react';
import { refusalOf } from '../lib/api.ts';
import { session, signIn } from '../lib/hub.ts';
import type { Credentials } from '../worker/messages.ts';

let complaint: string | undefined;
const listeners = new Set<() => void>();

/** Signing in clears the complaint, so that it is not shown again after a sign-out. */
function complain(text: string | undefined): void {
  complaint = session.get()?.who ? undefined : text;
  for (const listener of listeners) listener();
}
session.subscribe(() => complain(complaint));

function useComplaint(): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => complaint,
  );
}

/** Signs in with the code in the address, and takes it out of there. */
export function takeCode(): void {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  void enter({ code });
}

async function enter(credentials: Credentials): Promise<void> {
  complain(undefined);
  try {
    const response = await signIn(credentials);
    if (response.status !== 200) complain((await refusalOf(response)).message);
  } catch (error) {
    complain((error as Error).message);
  }
}

/** The field appears where somebody has asked for it. */
const focus = (field: HTMLInputElement | null) => field?.focus();

export function SignIn() {
  const [way, setWay] = useState<'password' | 'token'>('password');
  const [busy, setBusy] = useState(false);
  const problem = useComplaint();
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
          {problem && (
            <p className="note bad" role="alert">
              {problem}
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
