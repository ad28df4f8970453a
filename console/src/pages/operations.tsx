import { Link, useParams } from '@tanstack/react-router';
import { type SubmitEvent, useRef, useState } from 'react';
import { ApiError, parsed } from '../lib/api.ts';
import { newIdempotencyKey } from '../lib/call.ts';
import * as hub from '../lib/hub.ts';
import { addressOf, type Catalog, type Operation, useCatalog } from '../lib/operations.ts';
import { type Place, remembered } from '../lib/place.ts';
import { useFilters } from '../lib/search.ts';
import { useWho } from '../lib/session.ts';
import { AsCode } from '../ui/as-code.tsx';
import { Fault } from '../ui/fault.tsx';
import { TextFilter } from '../ui/filters.tsx';
import { Page, Section, UnreadPage } from '../ui/page.tsx';
import { Properties, SchemaField } from '../ui/schema-field.tsx';
import { useAccepted } from '../ui/toasts.tsx';
import { bodyText } from '../worker/messages.ts';

/** Lists every operation of the API, with or without a page of its own. */
export function Operations() {
  const { data, error, refetch } = useCatalog();
  const { name = '' } = useFilters();
  const words = name.toLowerCase().split(/\s+/);
  const found = data?.operations.filter(({ id, summary, path, tag }) => {
    const text = `${id} ${summary} ${path} ${tag}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const tags = Map.groupBy(found ?? [], ({ tag }) => tag);
  return (
    <Page title="All operations">
      <search className="row">
        <TextFilter name="name" label="Search" placeholder="create cluster" />
        <span role="status" className="muted">
          {found ? `${found.length} operations` : 'Reading …'}
        </span>
      </search>
      {error && <Fault error={error} again={() => void refetch()} />}
      {[...tags].map(([tag, operations]) => (
        <section key={tag} className="card">
          <header>
            <h2>{tag}</h2>
          </header>
          <ul className="lines">
            {operations.map(({ id, method, path, summary, deprecated }) => (
              <li key={id} className="row">
                <Link to="/operations/$operation" params={{ operation: id }}>
                  {summary}
                </Link>
                <code className="muted">
                  {method} {path}
                </code>
                {deprecated && <span className="badge">deprecated</span>}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Page>
  );
}

export function OperationPage() {
  const { operation: id } = useParams({ from: '/operations/$operation' });
  const { data, error, refetch } = useCatalog();
  if (!data) return <UnreadPage title="Operation" error={error} again={refetch} />;
  const operation = data.operations.find((one) => one.id === id);
  if (!operation) return <p>There is no operation {id}.</p>;
  return <Form key={id} operation={operation} resolve={data.resolve} />;
}

interface Sent {
  status: number;
  ms: number;
  text: string;
  requestId: string | undefined;
  dry: boolean;
}

function Form({ operation, resolve }: { operation: Operation; resolve: Catalog['resolve'] }) {
  const { method, path, summary, description, parameters, body: schema } = operation;
  const { clientId } = useWho();
  const sayAccepted = useAccepted();
  const [values, setValues] = useState(() => known(operation, resolve, remembered(), clientId));
  const whole = schema && resolve(schema);
  const [body, setBody] = useState<unknown>(whole?.type === 'array' ? [] : {});
  const [sent, setSent] = useState<Sent>();
  const [faults, setFaults] = useState<Record<string, string[]>>({});
  const [sending, setSending] = useState(false);
  const [unreachable, setUnreachable] = useState<Error>();
  // Of the request that was sent last, until it is carried out.
  const wish = useRef({ request: '', key: '' });
  const address = addressOf(operation, values);
  const written = { method, path: address, ...(whole && { body }) };

  async function send(dry: boolean) {
    setSending(true);
    setUnreachable(undefined);
    const request = JSON.stringify(written);
    if (wish.current.request !== request) wish.current = { request, key: newIdempotencyKey() };
    const { key } = wish.current;
    const headers = dry ? { 'tradewind-dry-run': 'true' } : method === 'GET' ? {} : { 'idempotency-key': key };
    const begun = performance.now();
    try {
      const answer = await hub.call({ method, path: address, headers, ...(whole && { body: JSON.stringify(body) }) });
      const text = await bodyText(answer);
      const error = answer.status >= 400 ? new ApiError(answer.status, parsed(text), undefined) : undefined;
      if (!error && !dry) {
        wish.current = { request: '', key: '' };
        if (method !== 'GET') sayAccepted(parsed(text), summary);
      }
      setFaults(error?.fields ?? {});
      setSent({
        status: answer.status,
        ms: performance.now() - begun,
        text: pretty(text),
        requestId: answer.headers['x-request-id'],
        dry,
      });
    } catch (error) {
      setFaults({});
      setSent(undefined);
      setUnreachable(error as Error);
    } finally {
      setSending(false);
    }
  }

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (sending) return;
    const { submitter } = event.nativeEvent;
    void send((submitter as HTMLButtonElement | null)?.value === 'dry');
  }

  return (
    <Page
      title={summary}
      crumbs={[
        <Link key="all" to="/operations">
          All operations
        </Link>,
        <code key="path">
          {method} {path}
        </code>,
      ]}
      actions={<AsCode calls={[written]} />}
    >
      {description && <p>{description}</p>}
      <form className="form" onSubmit={submit}>
        {parameters.map(({ name, schema, required, description, in: where }) => (
          <SchemaField
            key={`${where} ${name}`}
            name={name}
            schema={{ ...resolve(schema), ...(description !== undefined && { description }) }}
            required={required}
            value={values[name]}
            onChange={(value) => setValues({ ...values, [name]: value })}
            resolve={resolve}
            faults={faults}
          />
        ))}
        {whole?.properties ? (
          <Properties
            schema={whole}
            value={body as Record<string, unknown>}
            onChange={setBody}
            resolve={resolve}
            faults={faults}
          />
        ) : (
          whole && (
            <SchemaField
              name="body"
              schema={whole}
              required
              value={body}
              onChange={setBody}
              resolve={resolve}
              faults={faults}
            />
          )
        )}
        <div className="row">
          <button type="submit" className={`button ${method === 'DELETE' ? 'danger' : 'primary'}`} disabled={sending}>
            {method === 'GET' ? 'Read' : 'Send'}
          </button>
          {method !== 'GET' && (
            <button type="submit" className="button" value="dry" disabled={sending}>
              Only see what it would do
            </button>
          )}
        </div>
      </form>
      {unreachable && <Fault error={unreachable} />}
      {sent && (
        <Section
          title={sent.dry ? 'What it would do' : 'Answer'}
          aside={
            <>
              <span className={`badge ${sent.status < 400 ? 'good' : 'bad'}`}>{sent.status}</span>
              <span className="muted">
                {Math.round(sent.ms)} ms · request <code>{sent.requestId}</code>
              </span>
            </>
          }
        >
          <div className="inside">
            <pre className="code">{sent.text || 'Without contents.'}</pre>
          </div>
        </Section>
      )}
    </Page>
  );
}

/** What is known of the parameters before anything is entered. */
function known(
  { parameters }: Operation,
  resolve: Catalog['resolve'],
  { project, region }: Place,
  clientId: number,
): Record<string, unknown> {
  const places: Record<string, string> = {
    project_id: String(project),
    region_id: String(region),
    client_id: String(clientId),
    clientId: String(clientId),
  };
  return Object.fromEntries(
    parameters.flatMap(({ name, schema }) => {
      const value = places[name];
      return value === undefined ? [] : [[name, resolve(schema).type === 'array' ? [value] : value]];
    }),
  );
}

function pretty(text: string): string {
  const value = parsed(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}
