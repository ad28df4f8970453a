import { useState } from 'react';
import { $api } from '../lib/api.ts';
import { callOf } from '../lib/call.ts';
import { type Place, pathOf } from '../lib/place.ts';
import type { Search } from '../lib/search.ts';
import { Field, SelectField, TextField, useFaults } from '../ui/field.tsx';
import { ListPage, useRead } from '../ui/list-page.tsx';
import { Section } from '../ui/page.tsx';
import { pagingOf } from '../ui/pages.tsx';
import { Review } from '../ui/review.tsx';
import { State } from '../ui/state.tsx';
import { Time } from '../ui/time.tsx';

const SECRETS = '/cloud/v1/secrets/{project_id}/{region_id}';
const SECRET = '/cloud/v1/secrets/{project_id}/{region_id}/{secret_id}';

Secrets.reads = (search: Search, place: Place) =>
  $api.queryOptions('get', SECRETS, { params: { path: pathOf(place), query: pagingOf(search) } });

export function Secrets() {
  const { read, call, place } = useRead(Secrets.reads);
  return (
    <ListPage
      title="Secrets"
      caption="Secrets, the newest first"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteSecret',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', SECRET, { params: { path: { ...pathOf(place), secret_id: id } } }),
        },
      ]}
      empty="There is no secret in this project and region. Store one below."
      columns={[
        { name: 'Name', show: ({ name }) => name },
        { name: 'What it is', show: ({ secret_type }) => secret_type },
        { name: 'Status', show: ({ status }) => <State of={status} /> },
        { name: 'ID', show: ({ id }) => <code>{id}</code> },
        { name: 'Expires', show: ({ expiration }) => (expiration ? <Time at={expiration} /> : 'never') },
        { name: 'Created', show: ({ created }) => <Time at={created} /> },
      ]}
      below={<NewSecret place={place} />}
    >
      <p className="muted">Nobody can read what is in a secret again. Load balancers use certificates by their IDs.</p>
    </ListPage>
  );
}

const KINDS = [
  { value: 'tls', text: 'a certificate with its key, for load balancers' },
  { value: 'certificate', text: 'a certificate' },
  { value: 'private', text: 'a private key' },
  { value: 'public', text: 'a public key' },
  { value: 'symmetric', text: 'a symmetric key' },
  { value: 'passphrase', text: 'a passphrase' },
  { value: 'opaque', text: 'something else' },
] as const;
type Kind = (typeof KINDS)[number]['value'];

const NOTHING = { certificate: '', certificate_chain: '', private_key: '' };

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

function NewSecret({ place }: { place: Place }) {
  const [kind, setKind] = useState<Kind>('tls');
  const [name, setName] = useState('');
  const [contents, setContents] = useState('');
  const [parts, setParts] = useState(NOTHING);
  const [expires, setExpires] = useState('');
  const { faults, clear, take } = useFaults([
    'name',
    'payload',
    'expiration',
    ...Object.keys(NOTHING).flatMap((part) => [part, `payload.${part}`]),
  ]);
  const whole = { name, ...(expires !== '' && { expiration: `${expires}T00:00:00Z` }) };
  const params = { path: pathOf(place) };
  const faultsOf = (part: string) => faults[`payload.${part}`] ?? faults[part] ?? faults.payload;
  return (
    <Section title="Store a secret">
      <form className="inside form" onSubmit={(event) => event.preventDefault()} autoComplete="off">
        <SelectField label="What it is" value={kind} options={KINDS} onChange={(value) => setKind(value as Kind)} />
        <TextField label="Name of the secret" value={name} onChange={setName} required faults={faults.name} />
        {kind === 'tls' ? (
          <>
            <Contents
              label="Certificate"
              value={parts.certificate}
              onChange={(certificate) => setParts({ ...parts, certificate })}
              faults={faultsOf('certificate')}
            />
            <Contents
              label="Certificates of its issuers"
              help="May be empty."
              value={parts.certificate_chain}
              onChange={(certificate_chain) => setParts({ ...parts, certificate_chain })}
              faults={faults['payload.certificate_chain'] ?? faults.certificate_chain}
            />
            <Contents
              label="Private key"
              value={parts.private_key}
              onChange={(private_key) => setParts({ ...parts, private_key })}
              faults={faults['payload.private_key'] ?? faults.private_key}
            />
          </>
        ) : (
          <Contents label="Contents" value={contents} onChange={setContents} faults={faults.payload} />
        )}
        <TextField
          label="Expires on"
          help="In UTC. Leave it empty for never."
          type="date"
          value={expires}
          onChange={setExpires}
          faults={faults.expiration}
        />
        <div className="row">
          <Review
            operation={kind === 'tls' ? 'createTlsSecret' : 'createSecret'}
            label="Store"
            title="Store this secret?"
            tone="primary"
            call={() => {
              clear();
              if (kind === 'tls')
                return callOf('post', '/cloud/v2/secrets/{project_id}/{region_id}', {
                  params,
                  body: { ...whole, payload: parts },
                });
              return callOf('post', SECRETS, {
                params,
                body: {
                  ...whole,
                  secret_type: kind,
                  payload: base64(contents),
                  payload_content_encoding: 'base64',
                  payload_content_type: 'application/octet-stream',
                },
              });
            }}
            onRefused={take}
            onApplied={() => {
              setName('');
              setContents('');
              setParts(NOTHING);
            }}
          />
        </div>
      </form>
    </Section>
  );
}

function Contents({
  label,
  help,
  value,
  onChange,
  faults,
}: {
  label: string;
  help?: string;
  value: string;
  onChange: (value: string) => void;
  faults: readonly string[] | undefined;
}) {
  return (
    <Field label={label} help={help} faults={faults}>
      {(ids) => (
        <textarea
          {...ids}
          className="input"
          spellCheck={false}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
