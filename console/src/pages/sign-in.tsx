import { lazy, type SubmitEvent, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { ApiError, parsed, refusalOf, send } from '../lib/api.ts';
import { callOf } from '../lib/call.ts';
import { session, signIn } from '../lib/hub.ts';
import { askPasskey, hasPasskeys } from '../lib/passkeys.ts';
import { useSession } from '../lib/session.ts';
import type { NewApp } from '../ui/app-setup.tsx';
import { Fault } from '../ui/fault.tsx';
import { CheckField, TextField, useForm } from '../ui/field.tsx';
import { bodyText, type Credentials } from '../worker/messages.ts';

const AppSetup = lazy(async () => ({ default: (await import('../ui/app-setup.tsx')).AppSetup }));
const CodeList = lazy(async () => ({ default: (await import('../ui/app-setup.tsx')).CodeList }));

interface Said {
  complaint?: string | undefined;
  /** Somebody has just joined, and may sign in now. */
  joined?: boolean;
  /** The invitation that was in the address. */
  invitation?: string | undefined;
  /** What the password alone is not enough for. */
  asked?: Asked | undefined;
  /** The recovery codes of somebody who has just added a second factor to sign in. */
  codes?: readonly string[] | undefined;
}

/** What else somebody has to show after the password. */
interface Asked {
  challenge: string;
  factors: string[];
  /** Whether they have to add a second factor first. */
  enrol: boolean;
}

let said: Said = {};
const listeners = new Set<() => void>();

/**
 * Signing in clears what was said, so that it is not shown again after a sign-out. An invitation stays until it is answered, and recovery
 * codes until they are kept.
 */
function say(next: Said): void {
  said = session.get()?.who ? { invitation: next.invitation, codes: next.codes } : next;
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
export const useFreshCodes = () => useSaid().codes;

/** Removes a code or an invitation from the address. A code signs in; an invitation shows the form to join. */
export function takeFragment(): void {
  const [, name, secret] = /^#(code|invitation)=([\w-]+)$/.exec(location.hash) ?? [];
  if (secret === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  if (name === 'invitation') say({ invitation: secret });
  else void enter({ code: secret });
}

async function enter(credentials: Credentials, asked?: Asked): Promise<void> {
  say({ asked });
  try {
    const response = await signIn(credentials);
    if (response.status === 200) {
      const { recovery_codes: codes } = parsed(await bodyText(response)) as { recovery_codes?: string[] };
      say({ codes });
      return;
    }
    const refusal = await refusalOf(response);
    const next = refusal.body as Partial<Asked> | undefined;
    if (next?.challenge) say({ asked: next as Asked });
    // A challenge that is no longer valid begins again with the password.
    else say({ complaint: refusal.message, asked: refusal.status === 401 ? undefined : asked });
  } catch (error) {
    say({ complaint: (error as Error).message, asked });
  }
}

/** The field appears where somebody has asked for it. */
const focus = (field: HTMLInputElement | null) => field?.focus();

const textOf = (form: HTMLFormElement, name: string): string => {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value : '';
};

export function SignIn() {
  const { asked } = useSaid();
  return asked ? <SecondStep key={asked.challenge} asked={asked} /> : <FirstStep />;
}

function Complaint() {
  const { complaint } = useSaid();
  if (!complaint) return null;
  return (
    <p className="note bad" role="alert">
      {complaint}
    </p>
  );
}

function FirstStep() {
  const [way, setWay] = useState<'password' | 'token'>('password');
  const [busy, setBusy] = useState(false);
  const { joined } = useSaid();
  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const text = (name: string) => textOf(form, name);
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
          <Complaint />
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

type Way = 'code' | 'recovery_code' | 'passkey';
const WAYS: Record<Way, { factor: string; other: string }> = {
  code: { factor: 'totp', other: 'Use the app instead' },
  passkey: { factor: 'passkey', other: 'Use a passkey instead' },
  recovery_code: { factor: 'recovery_code', other: 'Use a recovery code instead' },
};

/** After the password: a code, a recovery code or a passkey, or first the app that makes codes. */
function SecondStep({ asked }: { asked: Asked }) {
  const { challenge, enrol, factors } = asked;
  const ways = (Object.keys(WAYS) as Way[]).filter((one) =>
    enrol ? one === 'code' : factors.includes(WAYS[one].factor) && (one !== 'passkey' || hasPasskeys()),
  );
  const [way, setWay] = useState<Way>(ways[0] ?? 'recovery_code');
  const [busy, setBusy] = useState(false);
  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = textOf(event.currentTarget, way).trim();
    setBusy(true);
    if (way === 'passkey') await enterWithPasskey(asked);
    else await enter(way === 'code' ? { challenge, code: given } : { challenge, recovery_code: given }, asked);
    setBusy(false);
  }
  return (
    <main className="gate">
      <div className="card">
        <form className="inside" onSubmit={submit}>
          <h1>{enrol ? 'Add a second factor' : 'Second step'}</h1>
          <Complaint />
          {enrol && <Enrolment challenge={challenge} />}
          {way === 'passkey' ? (
            <p>Your browser asks for your passkey.</p>
          ) : (
            <div className="field" key={way}>
              <label htmlFor={way}>{way === 'code' ? 'Code' : 'Recovery code'}</label>
              <input
                ref={enrol ? undefined : focus}
                id={way}
                name={way}
                className="input mono"
                autoComplete={way === 'code' ? 'one-time-code' : 'off'}
                inputMode={way === 'code' ? 'numeric' : 'text'}
                pattern={way === 'code' ? '[0-9]{6}' : undefined}
                spellCheck={false}
                required
                aria-describedby="second-help"
              />
              <p id="second-help" className="help">
                {way === 'code' ? 'The six digits that the app shows.' : 'It works once.'}
              </p>
            </div>
          )}
          <button type="submit" className="button primary" disabled={busy}>
            {busy ? 'Signing in …' : 'Sign in'}
          </button>
          {ways
            .filter((one) => one !== way)
            .map((one) => (
              <button key={one} type="button" className="button quiet" onClick={() => setWay(one)}>
                {WAYS[one].other}
              </button>
            ))}
          <button type="button" className="button quiet" onClick={() => say({})}>
            Back
          </button>
          {!enrol && <p className="muted">If you lost what you need here, ask an administrator of your account.</p>}
        </form>
      </div>
    </main>
  );
}

async function enterWithPasskey(asked: Asked): Promise<void> {
  const { challenge } = asked;
  try {
    const options = await send(
      callOf('post', '/tradewind/v1/logins/second_factor/passkey_options', { body: { challenge } }),
    );
    await enter({ challenge, passkey: await askPasskey(options) }, asked);
  } catch (error) {
    const ended = error instanceof ApiError && error.status === 401;
    say({ complaint: (error as Error).message, asked: ended ? undefined : asked });
  }
}

function Enrolment({ challenge }: { challenge: string }) {
  const [app, setApp] = useState<NewApp>();
  useEffect(() => {
    const call = callOf('post', '/tradewind/v1/logins/second_factor/enrol', { body: { challenge } });
    send(call).then(
      (answer) => setApp(answer as NewApp),
      (error: Error) => say({ complaint: error.message }),
    );
  }, [challenge]);
  return (
    <>
      <p>Your account requires a second factor.</p>
      <Suspense fallback={<p className="muted">Loading …</p>}>{app && <AppSetup {...app} />}</Suspense>
    </>
  );
}

/** Shown before anything else to somebody who has just added a second factor to sign in. */
export function FreshCodes({ codes }: { codes: readonly string[] }) {
  return (
    <main className="gate">
      <div className="card">
        <div className="inside">
          <h1>Your recovery codes</h1>
          <Suspense fallback={<p className="muted">Loading …</p>}>
            <CodeList codes={codes} />
          </Suspense>
          <button type="button" className="button primary" onClick={() => say({})}>
            I have kept them
          </button>
        </div>
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
