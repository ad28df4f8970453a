import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { $api } from '../lib/api.ts';
import { areKeysOn, MODIFIER, turnKeys } from '../lib/keys.ts';
import { useCatalog } from '../lib/operations.ts';
import { OF_PLACE, type Place, pathOf } from '../lib/place.ts';
import { CheckField } from '../ui/field.tsx';
import type { Sections } from './frame.tsx';

/** Where things are made: pages of their own, forms above lists, and lists with a button. */
const CREATE: readonly (readonly [to: string, text: string, search?: object])[] = [
  [`${OF_PLACE}/create-cluster`, 'Create a cluster'],
  [`${OF_PLACE}/instances/new`, 'Create an instance'],
  [`${OF_PLACE}/networks`, 'Create a network', { new: 'yes' }],
  [`${OF_PLACE}/security-groups`, 'Create a security group', { new: 'yes' }],
  [`${OF_PLACE}/routers`, 'Create a router', { new: 'yes' }],
  [`${OF_PLACE}/floating-ips`, 'Create a floating IP'],
  [`${OF_PLACE}/reserved-ips`, 'Create a reserved fixed IP', { new: 'yes' }],
  [`${OF_PLACE}/load-balancers`, 'Create a load balancer', { new: 'yes' }],
  [`${OF_PLACE}/volumes/new`, 'Create a volume'],
  [`${OF_PLACE}/volumes`, 'Create a snapshot of a volume'],
  [`${OF_PLACE}/ssh-keys`, 'Create an SSH key'],
  [`${OF_PLACE}/secrets`, 'Create a secret'],
  ['/ai-tasks/new', 'Create an AI task'],
  ['/account/projects', 'Create a project'],
  ['/account/budgets', 'Create a budget'],
  ['/account/users', 'Create a user'],
  ['/account/sign-in', 'Create an identity provider'],
  ['/account/tokens', 'Create an API token'],
  ['/account/webhooks', 'Create a webhook'],
];

/** What is found by its name. A list that has no filter for a part of the name is read as a whole. */
const KINDS = [
  { kind: 'cluster', list: '/cloud/v2/k8s/clusters/{project_id}/{region_id}', to: 'clusters' },
  { kind: 'instance', list: '/cloud/v1/instances/{project_id}/{region_id}', by: 'name', to: 'instances' },
  { kind: 'volume', list: '/cloud/v1/volumes/{project_id}/{region_id}', by: 'name_part', to: 'volumes' },
  { kind: 'security group', list: '/cloud/v1/securitygroups/{project_id}/{region_id}', to: 'security-groups' },
  { kind: 'network', list: '/cloud/v1/networks/{project_id}/{region_id}', to: 'networks' },
  { kind: 'load balancer', list: '/cloud/v1/loadbalancers/{project_id}/{region_id}', by: 'name', to: 'load-balancers' },
] as const;

const LETTERS = 2;
const TYPING_MS = 200;
const SHOWN = 20;

interface Item {
  id: string;
  text: string;
  note?: string;
  open: () => void;
}
type Go = (to: string, params?: object, search?: object) => void;

/** Those that have all the words. The ones that begin with them come first. */
function matching(items: readonly Item[], typed: string): Item[] {
  const words = typed.split(/\s+/);
  const begins = ({ text }: Item) => Number(text.toLowerCase().startsWith(typed));
  return items
    .filter(({ text, note }) => words.every((word) => `${text} ${note ?? ''}`.toLowerCase().includes(word)))
    .sort((one, other) => begins(other) - begins(one))
    .slice(0, typed === '' ? undefined : SHOWN);
}

/** Finds pages, resources and operations, and opens them. */
export function Palette({
  place,
  sections,
  actions,
  onClose,
}: {
  place: Place;
  sections: Sections;
  actions: Readonly<Record<string, () => void>>;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const typed = text.trim().toLowerCase();
  const [open, setOpen] = useState(true);
  const chosen = useRef<Item>(undefined);
  const go: Go = (to, params, search = {}) => {
    void navigate({ to, params: { ...place, ...params } as never, search: search as never });
    document.getElementById('main')?.focus();
  };
  const resources = useResources(place, text.trim(), go);
  const operations = useOperations(typed, go);
  const pages = sections.flatMap(([note, entries]) =>
    entries.map(([to, text]): Item => ({ id: to, text, note, open: () => go(to) })),
  );
  const found = [
    { name: 'Pages', items: pages },
    {
      name: 'Create',
      items: CREATE.map(([to, text, search]): Item => ({ id: text, text, open: () => go(to, {}, search) })),
    },
    { name: 'Resources', items: resources.items },
    { name: 'Actions', items: Object.entries(actions).map(([text, open]): Item => ({ id: text, text, open })) },
    { name: 'Operations of the API', items: operations.items },
  ]
    .map(({ name, items }) => ({ name, items: matching(items, typed) }))
    .filter(({ items }) => items.length > 0);
  const status = [
    (resources.reading || operations.reading) && 'Searching …',
    (resources.failed || operations.failed) && 'Not everything could be searched.',
    found.length === 0 && 'Nothing has this name.',
  ].find((one) => one !== false);
  const choose = (item: Item) => {
    chosen.current = item;
    setOpen(false);
  };
  // By then, the focus is back where it was.
  const end = () => {
    onClose();
    chosen.current?.open();
  };
  return (
    <Dialog.Root open={open} onOpenChange={setOpen} onOpenChangeComplete={(still) => still || end()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label="Search">
          <Autocomplete.Root
            inline
            open
            mode="none"
            items={found}
            itemToStringValue={({ text }: Item) => text}
            value={text}
            onValueChange={setText}
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              className="input"
              aria-label="Search"
              placeholder="A page, the name of a resource, or what the API can do"
            />
            <Autocomplete.Status className="muted">{status}</Autocomplete.Status>
            <Autocomplete.List>
              {({ name, items }: (typeof found)[number]) => (
                <Autocomplete.Group key={name} items={items}>
                  <Autocomplete.GroupLabel className="muted">{name}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(item: Item) => (
                      <Autocomplete.Item key={item.id} value={item} onClick={() => choose(item)}>
                        <span>{item.text}</span>
                        <span className="muted">{item.note}</span>
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function useResources(place: Place, typed: string, go: Go) {
  const [asked, setAsked] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const enabled = typed.length >= LETTERS && asked.length >= LETTERS;
  const reads = useQueries({
    queries: KINDS.map((kind) => ({
      ...$api.queryOptions('get', kind.list, {
        params: { path: pathOf(place), query: 'by' in kind ? { [kind.by]: asked, limit: SHOWN } : { limit: 1_000 } },
      }),
      enabled,
      placeholderData: keepPreviousData,
    })),
  });
  const items = reads.flatMap(({ data }, at): Item[] => {
    const { kind, to } = KINDS[at] as (typeof KINDS)[number];
    return (enabled ? (data?.results ?? []) : []).map(({ id, name }) => ({
      id,
      text: name,
      note: kind,
      // Clusters are addressed by their names.
      open: () => go(`${OF_PLACE}/${to}/$one`, { one: kind === 'cluster' ? name : id }),
    }));
  });
  return {
    items,
    reading: reads.some(({ isFetching }) => isFetching) || (typed !== asked && typed.length >= LETTERS),
    failed: reads.some(({ isError }) => isError),
  };
}

function useOperations(typed: string, go: Go) {
  const enabled = typed.length >= LETTERS;
  const { data, isFetching, isError } = useCatalog(enabled);
  const operations = enabled ? (data?.operations ?? []) : [];
  const items = operations.map(
    ({ id, summary, method, path }): Item => ({
      id,
      text: summary,
      note: `${method} ${path}`,
      open: () => go('/operations/$operation', { operation: id }),
    }),
  );
  return { items, reading: isFetching, failed: isError };
}

/** The keys that do something, and a switch for those that do it alone. */
export function KeyList({ sections, onClose }: { sections: Sections; onClose: () => void }) {
  const [open, setOpen] = useState(true);
  const [on, setOn] = useState(areKeysOn);
  const pages = sections.flatMap(([, entries]) =>
    entries.flatMap(([, text, letter]) => (letter ? [[`g ${letter}`, text] as const] : [])),
  );
  const keys = [
    [`${MODIFIER} K`, 'Search'],
    ['/', 'The first filter of the page'],
    ['?', 'These keys'],
    ...pages,
  ] as const;
  return (
    <Dialog.Root open={open} onOpenChange={setOpen} onOpenChangeComplete={(still) => still || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <div className="row">
            <Dialog.Title>Keys</Dialog.Title>
            <Dialog.Close className="button quiet">Close</Dialog.Close>
          </div>
          <dl className="facts">
            {keys.map(([pressed, text]) => (
              <div key={pressed} className="contents">
                <dt>
                  <kbd>{pressed}</kbd>
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
          <CheckField
            label="Keys without Ctrl or Cmd"
            help="Turn them off if they are pressed by accident, or by what you say. This browser keeps it."
            value={on}
            onChange={(value) => {
              turnKeys(value);
              setOn(value);
            }}
          />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
