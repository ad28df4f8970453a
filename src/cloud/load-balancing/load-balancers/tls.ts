import type { Transaction } from '../../../db/database.ts';
import { letSecretsGo, type SecretWish, useSecrets } from '../secrets/service.ts';
import type { LoadBalancerRow } from './store.ts';
import type { PartRow, PartTable } from './tree/store.ts';

/*
 * Which secrets listeners and pools use. While a task changes them, they keep both the former and the new ones: nobody
 * knows yet which will stay.
 */

type ListenerSecrets = Pick<PartRow<'lb_listeners'>, 'id' | 'secret_id' | 'sni_secret_ids'>;
type PoolSecrets = Pick<PartRow<'lb_pools'>, 'id' | 'ca_secret_id' | 'crl_secret_id' | 'secret_id'>;
type Balancer = Pick<LoadBalancerRow, 'id' | 'project_id' | 'region_id'>;
interface How {
  /** The prefix of the fields in the request. */
  at: string;
}

const secretsOfListener = ({ secret_id, sni_secret_ids }: ListenerSecrets): string[] => [
  ...(secret_id === null ? [] : [secret_id]),
  ...sni_secret_ids,
];
const secretsOfPool = ({ secret_id, ca_secret_id, crl_secret_id }: PoolSecrets): string[] =>
  [secret_id, ca_secret_id, crl_secret_id].flatMap((id) => id ?? []);

/** @throws InvalidError for a secret that is missing or of no use, ConflictError for one that a task holds */
export async function useListenerSecrets(
  tx: Transaction,
  { balancer }: { balancer: Balancer },
  listener: ListenerSecrets,
  { at, former }: How & { former?: ListenerSecrets },
): Promise<void> {
  const { id, secret_id, sni_secret_ids } = listener;
  const wishes: SecretWish[] = [
    ...(secret_id === null ? [] : [{ field: `${at}secret_id`, id: secret_id, holds: 'tls' as const }]),
    ...sni_secret_ids.map((one, index) => ({
      field: `${at}sni_secret_id.${index}`,
      id: one,
      holds: 'tls' as const,
    })),
  ];
  const kept = former ? secretsOfListener(former) : [];
  await use(tx, balancer, { user_kind: 'listener', user_id: id }, { wishes, kept });
}

/** @throws InvalidError for a secret that is missing or of no use, ConflictError for one that a task holds */
export async function usePoolSecrets(
  tx: Transaction,
  { balancer }: { balancer: Balancer },
  pool: PoolSecrets,
  { at, former }: How & { former?: PoolSecrets },
): Promise<void> {
  const wish = (field: string, id: string | null, holds: SecretWish['holds']): SecretWish[] =>
    id === null ? [] : [{ field: `${at}${field}`, id, holds }];
  const wishes = [
    ...wish('secret_id', pool.secret_id, 'tls'),
    ...wish('ca_secret_id', pool.ca_secret_id, 'certificates'),
    ...wish('crl_secret_id', pool.crl_secret_id, 'bytes'),
  ];
  const kept = former ? secretsOfPool(former) : [];
  await use(tx, balancer, { user_kind: 'pool', user_id: pool.id }, { wishes, kept });
}

async function use(
  tx: Transaction,
  balancer: Balancer,
  user: Parameters<typeof useSecrets>[2],
  { wishes, kept }: { wishes: SecretWish[]; kept: string[] },
): Promise<void> {
  if (wishes.length === 0 && kept.length === 0) return;
  const place = { projectId: balancer.project_id, regionId: balancer.region_id };
  const former = kept.map((id) => ({ field: 'secret_id', id, holds: 'bytes' as const }));
  await useSecrets(tx, place, user, [...wishes, ...former]);
}

/** Lets go of what listeners and pools don't use any more, once the task has ended. Those that are gone use nothing. */
export async function settleSecrets(
  tx: Transaction,
  loadBalancerId: string,
  touched: Partial<Record<PartTable, string[]>>,
): Promise<void> {
  for (const id of touched.lb_listeners ?? []) {
    const row = await tx.sql
      .selectFrom('lb_listeners')
      .select(['id', 'secret_id', 'sni_secret_ids'])
      .where('id', '=', id)
      .where('load_balancer_id', '=', loadBalancerId)
      .executeTakeFirst();
    await letSecretsGo(tx, [{ user_kind: 'listener', user_id: id }], row ? secretsOfListener(row) : []);
  }
  for (const id of touched.lb_pools ?? []) {
    const row = await tx.sql
      .selectFrom('lb_pools')
      .select(['id', 'secret_id', 'ca_secret_id', 'crl_secret_id'])
      .where('id', '=', id)
      .where('load_balancer_id', '=', loadBalancerId)
      .executeTakeFirst();
    await letSecretsGo(tx, [{ user_kind: 'pool', user_id: id }], row ? secretsOfPool(row) : []);
  }
}

export async function letTreeSecretsGo(tx: Transaction, loadBalancerId: string): Promise<void> {
  const listeners = await tx.sql
    .selectFrom('lb_listeners')
    .select('id')
    .where('load_balancer_id', '=', loadBalancerId)
    .execute();
  const pools = await tx.sql
    .selectFrom('lb_pools')
    .select('id')
    .where('load_balancer_id', '=', loadBalancerId)
    .execute();
  await letSecretsGo(tx, [
    ...listeners.map(({ id }) => ({ user_kind: 'listener' as const, user_id: id })),
    ...pools.map(({ id }) => ({ user_kind: 'pool' as const, user_id: id })),
  ]);
}
