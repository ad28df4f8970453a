import { Link, useParams } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { ApiError, parsed } from '../lib/api.ts';
import * as hub from '../lib/hub.ts';
import { addressOf, type Catalog, type Operation, useCatalog } from '../lib/operations.ts';
import { type Place, remembered } from '../lib/place.ts';
import { useFilters } from '../lib/search.ts';
import { useWho } from '../lib/session.ts';
import { AsCode } from '../ui/as-code.tsx';
import { Fault } from '../ui/fault.tsx';
import { TextFilter } from '../ui/filters.tsx';
import { Page } from '../ui/page.tsx';
import { Properties, SchemaField, textOf } from '../ui/schema-field.tsx';

/** Everything that the API can do, also what has no page of its own. */
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
  if (error) return <Fault error={error} again={() => void refetch()} />;
  if (!data) return <p className="muted">Reading …</p>;
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
  const [values, setValues] = useState<Record<string, string>>(() => known(remembered(), clientId));
  const [body, setBody] = useState<Record<string, unknown>>({});
  const [sent, setSent] = useState<Sent>();
  const [faults, setFaults] = useState<Record<string, string[]>>({});
  const address = addressOf(operation, values);
  const whole = schema && resolve(schema);
  const written = { method, path: address, ...(whole && { body }) };

  async function send(dry: boolean) {
    const begun = performance.now();
    const headers = dry ? { 'tradewind-dry-run': 'true' } : {};
    const answer = await hub.call({ method, path: address, headers, ...(whole && { body: JSON.stringify(body) }) });
    const text = (await answer.body?.text()) ?? '';
    const error = answer.status >= 400 ? new ApiError(answer.status, parsed(text), undefined) : undefined;
    setFaults(error?.fields ?? {});
    setSent({
      status: answer.status,
      ms: performance.now() - begun,
      text: pretty(text),
      requestId: answer.headers['x-request-id'],
      dry,
    });
  }

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
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
            onChange={(value) => setValues({ ...values, [name]: [value ?? []].flat().map(textOf).join(',') })}
            resolve={resolve}
            faults={faults}
          />
        ))}
        {whole?.properties ? (
          <Properties schema={whole} value={body} onChange={setBody} resolve={resolve} faults={faults} />
        ) : (
          whole && (
            <SchemaField
              name="body"
              schema={whole}
              required
              value={body}
              onChange={(value) => setBody(value as typeof body)}
              resolve={resolve}
              faults={faults}
            />
          )
        )}
        <div className="row">
          <button type="submit" className={`button ${method === 'DELETE' ? 'danger' : 'primary'}`}>
            {method === 'GET' ? 'Read' : 'Send'}
          </button>
          {method !== 'GET' && (
            <button type="submit" className="button" value="dry">
              Only see what it would do
            </button>
          )}
        </div>
      </form>
      {sent && (
        <section className="card" aria-labelledby="answer">
          <header>
            <h2 id="answer">{sent.dry ? 'What it would do' : 'Answer'}</h2>
            <span className={`badge ${sent.status < 400 ? 'good' : 'bad'}`}>{sent.status}</span>
            <span className="muted">
              {Math.round(sent.ms)} ms · request <code>{sent.requestId}</code>
            </span>
          </header>
          <div className="inside">
            <pre className="code">{sent.text || 'Without contents.'}</pre>
          </div>
        </section>
      )}
    </Page>
  );
}

/** What is known of a path before anything is entered. */
const known = ({ project, region }: Place, clientId: number): Record<string, string> => ({
  project_id: String(project),
  region_id: String(region),
  client_id: String(clientId),
  clientId: String(clientId),
});

function pretty(text: string): string {
  const value = parsed(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}
