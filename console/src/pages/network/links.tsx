import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { type Rule, sentenceOf } from './rules.ts';

interface Named {
  id: string;
  /** The ID if nothing better is known. */
  name?: string | undefined;
}

const usePlaceOfPage = (): Place => usePlace() as Place;

export function GroupLink({ id, name = id }: Named) {
  return (
    <Link to="/p/$project/r/$region/security-groups/$group" params={{ ...usePlaceOfPage(), group: id }}>
      {name}
    </Link>
  );
}

export function InstanceLink({ id, name = id }: Named) {
  return (
    <Link to="/p/$project/r/$region/instances/$instance" params={{ ...usePlaceOfPage(), instance: id }}>
      {name}
    </Link>
  );
}

export function NetworkLink({ id, name = id }: Named) {
  return (
    <Link to="/p/$project/r/$region/networks/$network" params={{ ...usePlaceOfPage(), network: id }}>
      {name}
    </Link>
  );
}

/** A network of which only the ID is known. */
export function NetworkById({ id }: { id: string }) {
  const { data } = $api.useQuery('get', '/cloud/v1/networks/{project_id}/{region_id}/{network_id}', {
    params: { path: { ...pathOf(usePlaceOfPage()), network_id: id } },
  });
  return <NetworkLink id={id} name={data?.name} />;
}

/** An image of which only the ID is known. Images have no pages of their own: it leads to the list. */
export function ImageById({ id }: { id: string }) {
  const place = usePlaceOfPage();
  const { data } = $api.useQuery('get', '/cloud/v1/images/{project_id}/{region_id}/{image_id}', {
    params: { path: { ...pathOf(place), image_id: id } },
  });
  if (!data) return <code>{id}</code>;
  return (
    <Link to="/p/$project/r/$region/images" params={place} search={{ name: data.name } as never}>
      {data.name}
    </Link>
  );
}

/** Things in a row, with commas between them. */
export function Listed<One extends { id: string }>({
  of,
  show,
  none = 'none',
}: {
  of: readonly One[] | undefined;
  show: (one: One) => React.ReactNode;
  none?: string;
}) {
  if (!of) return <span className="muted">Reading …</span>;
  if (of.length === 0) return none;
  return of.map((one, at) => (
    <span key={one.id}>
      {at > 0 && ', '}
      {show(one)}
    </span>
  ));
}

export function VolumeLink({ id, name }: Named) {
  return (
    <Link to="/p/$project/r/$region/volumes/$volume" params={{ ...usePlaceOfPage(), volume: id }}>
      {name || id}
    </Link>
  );
}

export function LoadBalancerLink({ id, name = id }: Named) {
  return (
    <Link to="/p/$project/r/$region/load-balancers/$balancer" params={{ ...usePlaceOfPage(), balancer: id }}>
      {name}
    </Link>
  );
}

/** A rule in words, in which its group is a link. */
export function Sentence({ of, nameOf }: { of: Rule; nameOf: (id: string) => string }) {
  const group = of.remote_group_id;
  if (group === null) return sentenceOf(of, nameOf);
  return (
    <>
      {sentenceOf(of, () => '')}
      <GroupLink id={group} name={nameOf(group)} />
    </>
  );
}

/** The task that changes a thing now, if there is one. */
export function Changing({ task }: { task: string | null | undefined }) {
  const place = usePlaceOfPage();
  if (!task) return null;
  return (
    <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task }}>
      in progress
    </Link>
  );
}

/** Any address that no rule names, as an end of a connection. */
export const INTERNET = 'internet';

/** Ports, addresses or the internet, between which a connection is asked about, and how. */
export interface Question {
  from?: string | undefined;
  to?: string | undefined;
  protocol?: string | undefined;
  port?: string | undefined;
}

/** Leads to the answer whether something reaches something. */
export function QuestionLink({
  asked,
  className,
  children,
}: {
  asked: Question;
  className?: string;
  children: React.ReactNode;
}) {
  return (
    <Link
      to="/p/$project/r/$region/reachability"
      params={usePlaceOfPage()}
      search={asked as never}
      {...(className !== undefined && { className })}
    >
      {children}
    </Link>
  );
}

export const questionOf = (given: Readonly<Partial<Record<string, string>>>): Question => ({
  from: given.from,
  to: given.to,
  protocol: given.protocol,
  port: given.port,
});
