import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import { $api, whenMade } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { given, type Search } from '../../lib/search.ts';
import { SelectField, TextField, useForm } from '../../ui/field.tsx';
import { TextFilter } from '../../ui/filters.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { NewForm } from '../../ui/page.tsx';
import { pagingOf } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { tasksIn } from '../../ui/task.tsx';
import { Time } from '../../ui/time.tsx';
import { GroupLink } from './links.tsx';
import { exposureOf, httpsRules, pingRules, type Rule, ruleOf } from './rules.ts';

const LIST = '/cloud/v1/securitygroups/{project_id}/{region_id}';
const ONE = '/cloud/v1/securitygroups/{project_id}/{region_id}/{group_id}';

/** The groups of the place, by their IDs: for choices, and for the names of groups that rules mention. */
export function useGroups() {
  const place = usePlace() as Place;
  const { data } = $api.useQuery('get', LIST, { params: { path: pathOf(place), query: { limit: 1000 } } });
  const groups = data?.results ?? [];
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  return {
    options: groups.map(({ id, name }) => ({ value: id, text: name })),
    nameOf: (id: string): string => names.get(id) ?? id,
  };
}

SecurityGroups.reads = (search: Search, place: Place) =>
  $api.queryOptions('get', LIST, {
    params: { path: pathOf(place), query: { ...pagingOf(search), ...given({ name: search.name }) } },
  });

export function SecurityGroups() {
  const {
    read,
    call,
    filters: { name },
    place,
  } = useRead(SecurityGroups.reads);
  return (
    <ListPage
      title="Security groups"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteSecurityGroup',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', ONE, { params: { path: { ...pathOf(place), group_id: id } } }),
        },
      ]}
      bulkBelow
      filters={<TextFilter name="name" label="Name" placeholder="the whole name" />}
      empty={name ? 'No group has this name.' : 'There is no security group in this project and region.'}
      columns={[
        { name: 'Name', show: ({ id, name }) => <GroupLink id={id} name={name} /> },
        { name: 'Rules', number: true, show: ({ security_group_rules }) => security_group_rules.length },
        {
          name: 'Open to the internet',
          show: ({ security_group_rules }) => <Open rules={security_group_rules.map(ruleOf)} />,
        },
        { name: 'Description', show: ({ description }) => description },
        { name: 'Changed', show: ({ updated_at }) => <Time at={updated_at} /> },
      ]}
    >
      <NewGroup />
    </ListPage>
  );
}

function Open({ rules }: { rules: readonly Rule[] }) {
  const open = rules.filter((rule) => exposureOf(rule) !== undefined).length;
  if (open === 0) return <span className="muted">no</span>;
  return <span className="badge warn">by {open === 1 ? '1 rule' : `${open} rules`}</span>;
}

const OUT: Rule[] = (['IPv4', 'IPv6'] as const).map((ethertype) => ({
  direction: 'egress',
  ethertype,
  protocol: null,
  port_range_min: null,
  port_range_max: null,
  remote_ip_prefix: null,
  remote_group_id: null,
  description: '',
}));
const BEGINNINGS = {
  out: { text: 'Everything out, nothing in', rules: OUT },
  web: { text: 'Everything out, HTTPS and ping in', rules: [...OUT, ...httpsRules(), ...pingRules()] },
  none: { text: 'Nothing at all', rules: [] },
};
const NEW = '/cloud/v2/security_groups/{project_id}/{region_id}';

function NewGroup() {
  const place = usePlace() as Place;
  const navigate = useNavigate();
  const { values, set, field, take } = useForm<{
    name: string;
    description: string;
    beginning: keyof typeof BEGINNINGS;
  }>({ name: '', description: '', beginning: 'out' });
  const [task, setTask] = useState<string>();
  const [failed, setFailed] = useState<string>();
  const go = useEffectEvent((group: string) => {
    void navigate({ to: '/p/$project/r/$region/security-groups/$group', params: { ...place, group } });
  });
  useEffect(() => {
    if (task === undefined) return;
    const leaving = new AbortController();
    whenMade(task, 'security_groups', leaving.signal).then(go, (error: Error) => {
      if (leaving.signal.aborted) return;
      setFailed(error.message);
      setTask(undefined);
    });
    return () => leaving.abort();
  }, [task]);
  return (
    <NewForm title="New security group">
      <TextField label="Name" required maxLength={63} {...field('name')} />
      <TextField label="Description" maxLength={255} {...field('description')} />
      <SelectField
        label="What it lets pass at first"
        value={values.beginning}
        options={Object.entries(BEGINNINGS).map(([value, { text }]) => ({ value, text }))}
        onChange={(beginning) => set({ beginning: beginning as keyof typeof BEGINNINGS })}
      />
      <div className="row">
        <Review
          operation="createSecurityGroupByTask"
          label="Create"
          title={`Create security group ${values.name}?`}
          tone="primary"
          disabled={values.name === '' ? 'Give it a name first' : task && 'It is being made'}
          call={() =>
            callOf('post', NEW, {
              params: { path: pathOf(place) },
              body: {
                name: values.name,
                description: values.description,
                rules: BEGINNINGS[values.beginning].rules as never,
              },
            })
          }
          onRefused={take}
          onApplied={(answer) => {
            setFailed(undefined);
            setTask(tasksIn(answer)[0]);
          }}
        />
        <span role="status">{failed ?? (task && 'It is being made. Its page opens when it is there.')}</span>
      </div>
    </NewForm>
  );
}
