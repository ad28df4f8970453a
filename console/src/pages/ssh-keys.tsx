import { useState } from 'react';
import { $api } from '../lib/api.ts';
import { callOf } from '../lib/call.ts';
import type { Place } from '../lib/place.ts';
import { only, type Search } from '../lib/search.ts';
import { Copy } from '../ui/copy.tsx';
import { keep } from '../ui/export.tsx';
import { CheckField, Field, TextField, useFaults } from '../ui/field.tsx';
import { ChoiceFilter, TextFilter } from '../ui/filters.tsx';
import { ListPage, useRead } from '../ui/list-page.tsx';
import { Section } from '../ui/page.tsx';
import { pagingOf } from '../ui/pages.tsx';
import { Review } from '../ui/review.tsx';
import { Time } from '../ui/time.tsx';

const KEYS = '/cloud/v1/ssh_keys/{project_id}';
const KEY = '/cloud/v1/ssh_keys/{project_id}/{ssh_key_id}';
const FILTERS = ['name', 'order_by'];
const ORDERS = [
  { value: 'created_at.asc', text: 'oldest first' },
  { value: 'name.asc', text: 'by name' },
  { value: 'name.desc', text: 'by name, backwards' },
];

SshKeys.reads = (search: Search, place: Place) =>
  $api.queryOptions('get', KEYS, {
    params: { path: { project_id: place.project }, query: { ...only(search, FILTERS), ...pagingOf(search) } },
  });

export function SshKeys() {
  const { read, call, filters: search, place } = useRead(SshKeys.reads);
  const { project } = place;
  const filters = only(search, FILTERS);
  return (
    <ListPage
      title="SSH keys"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteSshKey',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', KEY, { params: { path: { project_id: project, ssh_key_id: id } } }),
        },
      ]}
      filters={
        <>
          <TextFilter name="name" label="Part of the name" />
          <ChoiceFilter name="order_by" label="Order" options={ORDERS} none="newest first" />
        </>
      }
      empty={filters.name ? 'No key matches.' : 'There is no SSH key in this project. Add one below.'}
      columns={[
        { name: 'Name', show: ({ name }) => name },
        { name: 'Fingerprint', show: ({ fingerprint }) => <code>{fingerprint}</code> },
        {
          name: 'Public key',
          show: ({ name, public_key }) => <Copy text={public_key} label={`Copy the public key ${name}`} />,
        },
        {
          name: 'Used by',
          show: ({ id, name, shared_in_project: shared }) => (
            <span className="row">
              {shared ? 'everyone in the project' : 'whoever added it'}
              <Review
                operation="updateSshKey"
                label={shared ? 'Stop sharing' : 'Share'}
                title={shared ? `Stop sharing the key ${name}?` : `Share the key ${name} in the project?`}
                tone="quiet"
                call={() =>
                  callOf('patch', KEY, {
                    params: { path: { project_id: project, ssh_key_id: id } },
                    body: { shared_in_project: !shared },
                  })
                }
              />
            </span>
          ),
        },
        { name: 'Added', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
      below={<NewKey project={project} />}
    />
  );
}

function NewKey({ project }: { project: number }) {
  const [name, setName] = useState('');
  const [publicKey, setPublicKey] = useState('');
  const [shared, setShared] = useState(true);
  const [made, setMade] = useState<{ name: string; private_key: string }>();
  const { faults, clear, take } = useFaults(['name', 'public_key']);
  return (
    <Section title="Add a key">
      {made && (
        <div className="inside">
          <div className="note warn" role="status">
            <p>
              This is the private key of <strong>{made.name}</strong>. It is shown this once and kept nowhere.
            </p>
            <div className="row">
              <button
                type="button"
                className="button"
                onClick={() => keep(new Blob([made.private_key]), `${made.name}.pem`)}
              >
                Save it as a file
              </button>
              <Copy text={made.private_key} label="Copy the private key" />
              <button type="button" className="button quiet" onClick={() => setMade(undefined)}>
                I have kept it
              </button>
            </div>
            <pre className="code">{made.private_key}</pre>
          </div>
        </div>
      )}
      <form className="inside form" onSubmit={(event) => event.preventDefault()}>
        <TextField label="Name of the key" value={name} onChange={setName} required faults={faults.name} />
        <Field
          label="Public key"
          help="What a .pub file has in it. Leave it empty to have a pair of keys made."
          faults={faults.public_key}
        >
          {(ids) => (
            <textarea
              {...ids}
              className="input"
              spellCheck={false}
              value={publicKey}
              onChange={({ target }) => setPublicKey(target.value)}
            />
          )}
        </Field>
        <CheckField label="Everyone in the project can use it" value={shared} onChange={setShared} />
        <div className="row">
          <Review
            operation="createSshKey"
            label="Add"
            title="Add this key?"
            tone="primary"
            call={() => {
              clear();
              return callOf('post', KEYS, {
                params: { path: { project_id: project } },
                body: {
                  name,
                  shared_in_project: shared,
                  ...(publicKey.trim() !== '' && { public_key: publicKey.trim() }),
                },
              });
            }}
            onRefused={take}
            onApplied={(answer) => {
              const { private_key } = answer as { private_key: string | null };
              setMade(private_key === null ? undefined : { name, private_key });
              setName('');
              setPublicKey('');
            }}
          />
        </div>
      </form>
    </Section>
  );
}
