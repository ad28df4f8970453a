import { useState } from 'react';
import type { Call } from '../../lib/call.ts';
import { TextField, useFaults } from '../../ui/field.tsx';
import { Review } from '../../ui/review.tsx';
import { Table } from '../../ui/table.tsx';

export interface Tag {
  key: string;
  value: string;
  read_only: boolean;
}

/** The tags of a resource. A change names only the tags that it changes. */
export function Tags({
  tags,
  operation,
  change,
}: {
  tags: readonly Tag[];
  operation: string;
  /** The request that sets tags to values, and removes those with null. */
  change: (tags: Record<string, string | null>) => Call;
}) {
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const { faults, clear, take } = useFaults(['tags']);
  return (
    <>
      <Table
        caption="Tags"
        read={{ data: tags }}
        keyOf={(tag) => tag.key}
        columns={[
          { name: 'Key', show: (tag) => <code>{tag.key}</code> },
          { name: 'Value', show: (tag) => tag.value },
          {
            name: 'Remove',
            show: (tag) => (
              <Review
                operation={operation}
                label={`Remove ${tag.key}`}
                title={`Remove the tag ${tag.key}?`}
                tone="danger"
                disabled={tag.read_only ? 'The platform has set it' : undefined}
                call={() => change({ [tag.key]: null })}
              />
            ),
          },
        ]}
        empty={<p>It has no tags.</p>}
      />
      <section className="card" aria-label="Set a tag">
        <header>
          <h2>Set a tag</h2>
        </header>
        <div className="inside form">
          <TextField label="Key" value={key} onChange={setKey} required faults={faults.tags} />
          <TextField label="Value" value={value} onChange={setValue} required />
          <div className="row">
            <Review
              operation={operation}
              label="Set it"
              title={`Set the tag ${key}?`}
              tone="primary"
              disabled={key === '' ? 'Enter a key first' : undefined}
              call={() => {
                clear();
                return change({ [key]: value });
              }}
              onRefused={take}
              onApplied={() => {
                setKey('');
                setValue('');
              }}
            />
          </div>
        </div>
      </section>
    </>
  );
}
