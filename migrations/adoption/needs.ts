import { type RawBuilder, sql } from 'kysely';

/**
 * Returns what a spec comes after, and what it uses as long as it exists, as columns `after` and `uses` of
 * one row.
 */
export function needsOf(kind: RawBuilder<unknown>, spec: RawBuilder<unknown>): RawBuilder<unknown> {
  const one = (need: string, path: string) => sql`
    select ${sql.lit(`${need}:`)} || (found #>> '{}') from jsonb_path_query(spec, ${sql.lit(path)}) as found`;
  const keys = (need: string, path: string) => sql`
    select ${sql.lit(`${need}:`)} || name from jsonb_path_query(spec, ${sql.lit(path)}) as found, jsonb_object_keys(found) as name`;
  const port = (at: string) => [
    one('network', `${at}.networkId`),
    one('subnet', `${at}.addresses.*.subnetId`),
    keys('security_group', `${at}.groups`),
  ];
  const used: Record<string, RawBuilder<unknown>[]> = {
    subnet: [one('network', '$.networkId')],
    port: port('$'),
    floating_ip: [one('port', '$.target.portId')],
    snapshot: [one('volume', '$.volumeId')],
    file_share: [one('network', '$.subnet.networkId'), one('subnet', '$.subnet.subnetId')],
    machine: [keys('port', '$.ports'), keys('volume', '$.disks')],
    cluster: [
      one('network', '$.network.networkId'),
      one('subnet', '$.network.subnetId'),
      keys('security_group', '$.pools.*.securityGroups'),
      ...port('$.pools.*.nodes.*.ports.*'),
    ],
  };
  const atFirst: Record<string, RawBuilder<unknown>[]> = {
    floating_ip: [one('port', '$.formerPortId')],
    volume: [one('image', '$.source.imageId'), one('snapshot', '$.source.snapshotId')],
    image: [one('volume', '$.volumeId')],
  };
  const of = (needs: typeof used) =>
    sql`array(select distinct key from unnest(case kind ${sql.join(
      Object.entries(needs).map(
        ([name, list]) => sql`when ${sql.lit(name)} then array(${sql.join(list, sql` union all `)})`,
      ),
      sql` `,
    )} else '{}' end) as keys (key))`;
  return sql`(
    select uses || at_first as after, uses
    from (select ${kind} as kind, ${spec} as spec) as given
    cross join lateral (select ${of(used)} as uses, ${of(atFirst)} as at_first) as found)`;
}
