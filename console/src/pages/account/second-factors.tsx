import { type ReactNode, type SubmitEvent, useRef, useState } from 'react';
import { $api, ApiError, send } from '../../lib/api.ts';
import { hasPasskeys, makePasskey } from '../../lib/passkeys.ts';
import { Action } from '../../ui/action.tsx';
import { AppSetup, CodeList, type NewApp } from '../../ui/app-setup.tsx';
import { Drawer } from '../../ui/drawer.tsx';
import { Fault } from '../../ui/fault.tsx';
import { TextField, useForm } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';

const FACTORS = '/tradewind/v1/second_factors';
const KINDS = { totp: 'App that makes codes', passkey: 'Passkey' };

const post = (path: string, body: object) => send({ method: 'POST', path: `${FACTORS}${path}`, body });

/** What a person shows besides the password. Isn't reviewed: the code of the requests would show the password. */
export function SecondFactors() {
  const read = $api.useQuery('get', FACTORS, {});
  const said = useToasts();
  const { results = [], recovery_codes = 0, passkeys = false } = read.data ?? {};
  const has = (kind: keyof typeof KINDS) => results.some((one) => one.kind === kind);

  function done(title: string): void {
    said.add({ title, type: 'good' });
    void read.refetch();
  }
  const added = (answer: unknown): ReactNode => {
    done('Second factor added');
    const { recovery_codes: codes } = answer as { recovery_codes?: string[] };
    return codes && <CodeList codes={codes} />;
  };
  async function addPasskey({ name, password }: Given): Promise<ReactNode> {
    const passkey = await makePasskey(await post('/passkey_options', { password }));
    return added(await post('/passkeys', { name, passkey }));
  }

  return (
    <Section title="Second factors">
      <div className="inside form">
        <p className="muted">
          With one, your password alone no longer signs you in. API tokens need none.
          {results.length > 0 && ` You have ${recovery_codes} recovery codes left.`}
        </p>
        <div className="row">
          <Ask
            operation="setUpTotp"
            label="Add an app"
            title="Add an app that makes codes"
            apply="Go on"
            named="Phone"
            disabled={has('totp') ? 'You have one. Remove it first.' : undefined}
            run={async ({ name, password }) => {
              const app = (await post('/totp', { name, password })) as NewApp;
              return <Confirm app={app} added={added} />;
            }}
          />
          <Ask
            operation="addPasskey"
            label="Add a passkey"
            title="Add a passkey"
            apply="Add"
            named="This device"
            disabled={passkeys && hasPasskeys() ? undefined : 'They work only at a public address with TLS.'}
            run={addPasskey}
          />
          <Ask
            operation="makeRecoveryCodes"
            label="New recovery codes"
            title="Make new recovery codes"
            apply="Make new ones"
            disabled={results.length > 0 ? undefined : 'You have no second factor.'}
            run={async ({ password }) => {
              const { recovery_codes: codes } = (await post('/recovery_codes', { password })) as {
                recovery_codes: string[];
              };
              done('New recovery codes made');
              return <CodeList codes={codes} />;
            }}
          >
            <p>The present ones no longer work.</p>
          </Ask>
        </div>
      </div>
      <Table
        caption="Your second factors"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Name', show: ({ name }) => name },
          { name: 'What it is', show: ({ kind }) => KINDS[kind] },
          { name: 'Added', show: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Last used', show: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : 'never') },
          {
            name: 'Actions',
            show: ({ id, name }) => (
              <Ask
                operation="removeSecondFactor"
                label="Remove"
                title={`Remove ${name}`}
                apply="Remove"
                tone="danger"
                run={async ({ password }) => {
                  await post(`/${id}/remove`, { password });
                  done('Second factor removed');
                  return undefined;
                }}
              >
                <p>It no longer signs you in.{results.length === 1 && ' Your password alone does then.'}</p>
              </Ask>
            ),
          },
        ]}
        empty={<p>You have none: your password alone signs you in.</p>}
      />
    </Section>
  );
}

interface Given {
  name: string;
  password: string;
}

/** A button whose drawer asks for the password again, and shows what comes of it. */
function Ask({
  operation,
  label,
  title,
  apply,
  tone = '',
  named,
  disabled,
  run,
  children,
}: {
  operation: string;
  label: string;
  title: string;
  /** What the button says that sends it. */
  apply: string;
  tone?: 'danger' | '';
  /** The name that is given unless another one is typed. */
  named?: string;
  disabled?: string | undefined;
  /** Returns what is shown then; nothing closes the drawer. */
  run: (given: Given) => Promise<ReactNode>;
  children?: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const [shown, setShown] = useState<ReactNode>();
  const { values, field, reset, take, clear } = useForm<Given>({ name: named ?? '', password: '' });
  const [refused, setRefused] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const button = useRef<HTMLButtonElement>(null);

  function begin() {
    reset();
    setRefused(undefined);
    setShown(undefined);
    setOpen(true);
  }
  async function submit(event: SubmitEvent) {
    event.preventDefault();
    setBusy(true);
    setRefused(undefined);
    clear();
    try {
      const next = await run(values);
      setShown(next);
      if (!next) setOpen(false);
    } catch (error) {
      if (!(error instanceof ApiError && take(error))) setRefused(error as Error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <Action opener={button} operation={operation} disabled={disabled} tone={tone} onClick={begin}>
        {label}
      </Action>
      <Drawer open={open} onOpenChange={setOpen} opener={button} title={title} busy={busy}>
        {shown ?? (
          <form className="form" onSubmit={(event) => void submit(event)}>
            {refused && <Fault error={refused} />}
            {children}
            {named !== undefined && (
              <TextField
                label="Name"
                required
                maxLength={100}
                {...field('name')}
                help="So that you know which it is."
              />
            )}
            <TextField label="Your password" type="password" required {...field('password')} />
            <div className="row">
              <button type="submit" className={`button ${tone || 'primary'}`} disabled={busy}>
                {apply}
              </button>
            </div>
          </form>
        )}
      </Drawer>
    </>
  );
}

/** The app counts once it has shown a right code. */
function Confirm({ app, added }: { app: NewApp; added: (answer: unknown) => ReactNode }) {
  const { values, field, take, clear } = useForm({ code: '' });
  const [refused, setRefused] = useState<Error>();
  const [done, setDone] = useState<ReactNode>();
  const [busy, setBusy] = useState(false);
  async function submit(event: SubmitEvent) {
    event.preventDefault();
    setBusy(true);
    setRefused(undefined);
    clear();
    try {
      setDone(added(await post('/totp/confirm', { code: values.code.trim() })) ?? <p>The app is set up.</p>);
    } catch (error) {
      if (!(error instanceof ApiError && take(error))) setRefused(error as Error);
    } finally {
      setBusy(false);
    }
  }
  if (done) return done;
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <AppSetup {...app} />
      {refused && <Fault error={refused} />}
      <TextField label="Code" required maxLength={6} {...field('code')} help="The six digits that the app shows now." />
      <div className="row">
        <button type="submit" className="button primary" disabled={busy}>
          Confirm
        </button>
      </div>
    </form>
  );
}
